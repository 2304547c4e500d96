"""The far side of both vendors on loopback, the logins that reach it, and the incident day it can play."""
