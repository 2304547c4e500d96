"""The ladder's rules: values in, values out; imports nothing of ours."""
