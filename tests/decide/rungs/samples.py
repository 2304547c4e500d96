"""What the real clients printed (Claude Code 2.1.197, codex-cli 0.171.0) when the rungs asked the loopback provider.

Captured on 2026-11-30; ids, durations and what no rung reads are left out.
"""

ANSWER = b"\n".join(
    [
        rb"""{"type":"system","subtype":"init","tools":["StructuredOutput"],"model":"claude-fable-5"}""",
        rb"""{"type":"assistant","message":{"id":"msg_FAKE","type":"message","role":"assistant","model":"claude-fable-5","content":[{"type":"tool_use","id":"toolu_FAKE","name":"StructuredOutput","input":{"nonce":"n-123","resolvable":true,"rec":"opt_b","kind":"","gap":"","touches":[],"rationale":"cheaper to undo"}}],"stop_reason":null,"usage":{"input_tokens":350,"output_tokens":32,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}""",
        rb"""{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_FAKE","type":"tool_result","content":"Structured output provided successfully"}]}}""",
        rb"""{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1796377401,"rateLimitType":"seven_day","overageStatus":"rejected","isUsingOverage":false}}""",
        rb"""{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"num_turns":2,"result":"{\"nonce\":\"n-123\",\"resolvable\":true,\"rec\":\"opt_b\",\"kind\":\"\",\"gap\":\"\",\"touches\":[],\"rationale\":\"cheaper to undo\"}","stop_reason":"tool_use","total_cost_usd":0.0051,"usage":{"input_tokens":350,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":32},"modelUsage":{"claude-fable-5":{"inputTokens":350,"outputTokens":32,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.0051}},"structured_output":{"nonce":"n-123","resolvable":true,"rec":"opt_b","kind":"","gap":"","touches":[],"rationale":"cheaper to undo"},"terminal_reason":"completed"}""",
    ]
)
OTHER_MODEL = b"\n".join(
    [
        rb"""{"type":"assistant","message":{"id":"msg_FAKE","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"toolu_FAKE","name":"StructuredOutput","input":{"nonce":"n-123","resolvable":true,"rec":"opt_b","kind":"","gap":"","touches":[],"rationale":"cheaper to undo"}}],"stop_reason":null,"usage":{"input_tokens":350,"output_tokens":32,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}""",
        rb"""{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_FAKE","type":"tool_result","content":"Structured output provided successfully"}]}}""",
        rb"""{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1796377432,"rateLimitType":"seven_day","overageStatus":"rejected","isUsingOverage":false}}""",
        rb"""{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"num_turns":2,"result":"{\"nonce\":\"n-123\",\"resolvable\":true,\"rec\":\"opt_b\",\"kind\":\"\",\"gap\":\"\",\"touches\":[],\"rationale\":\"cheaper to undo\"}","stop_reason":"tool_use","total_cost_usd":0.0051,"usage":{"input_tokens":350,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":32},"modelUsage":{"claude-fable-5":{"inputTokens":350,"outputTokens":32,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.0051}},"structured_output":{"nonce":"n-123","resolvable":true,"rec":"opt_b","kind":"","gap":"","touches":[],"rationale":"cheaper to undo"},"terminal_reason":"completed"}""",
    ]
)
PROSE = b"\n".join(
    [
        rb"""{"type":"assistant","message":{"id":"msg_FAKE","type":"message","role":"assistant","model":"claude-fable-5","content":[{"type":"text","text":"I think so: {\"nonce\": \"n-123\", \"resolvable\": true, \"rec\": \"opt_b\", \"kind\": \"\", \"gap\": \"\", \"touches\": [], \"rationale\": \"cheaper to undo\"}"}],"stop_reason":null,"usage":{"input_tokens":350,"output_tokens":35,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}""",
        rb"""{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1796377422,"rateLimitType":"seven_day","overageStatus":"rejected","isUsingOverage":false}}""",
        rb"""{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[structured-output-enforce] You MUST call the StructuredOutput tool to complete this request. Call this tool now."}]},"isSynthetic":true}""",
        rb"""{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":2,"stop_reason":"end_turn","total_cost_usd":0.0052499999999999995,"usage":{"input_tokens":350,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":35},"modelUsage":{"claude-fable-5":{"inputTokens":350,"outputTokens":35,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.0052499999999999995}},"terminal_reason":"max_turns","errors":["Reached maximum number of turns (1)"]}""",
    ]
)
EMPTY = b"\n".join(
    [
        rb"""{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1796377424,"rateLimitType":"seven_day","overageStatus":"rejected","isUsingOverage":false}}""",
        rb"""{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Your previous response had no visible output. Please continue and produce a user-visible response.]"}]},"isSynthetic":true}""",
        rb"""{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[structured-output-enforce] You MUST call the StructuredOutput tool to complete this request. Call this tool now."}]},"isSynthetic":true}""",
        rb"""{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":2,"stop_reason":"end_turn","total_cost_usd":0.007350000000000001,"usage":{"input_tokens":725,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2},"modelUsage":{"claude-fable-5":{"inputTokens":725,"outputTokens":2,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.007350000000000001}},"terminal_reason":"max_turns","errors":["Reached maximum number of turns (1)"]}""",
    ]
)
CUT_OFF = b"\n".join(
    [
        rb"""{"type":"assistant","message":{"id":"msg_FAKE","type":"message","role":"assistant","model":"claude-fable-5","content":[{"type":"text","text":"{\"non"}],"stop_reason":null,"usage":{"input_tokens":350,"output_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}""",
        rb"""{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1796377429,"rateLimitType":"seven_day","overageStatus":"rejected","isUsingOverage":false}}""",
        rb"""{"type":"assistant","message":{"id":"msg_FAKE","type":"message","role":"assistant","model":"claude-fable-5","content":[{"type":"text","text":"{\"non"}],"stop_reason":null,"usage":{"input_tokens":397,"output_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}""",
        rb"""{"type":"assistant","message":{"id":"msg_FAKE","type":"message","role":"assistant","model":"claude-fable-5","content":[{"type":"text","text":"{\"non"}],"stop_reason":null,"usage":{"input_tokens":445,"output_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}""",
        rb"""{"type":"assistant","message":{"id":"msg_FAKE","type":"message","role":"assistant","model":"claude-fable-5","content":[{"type":"text","text":"{\"non"}],"stop_reason":null,"usage":{"input_tokens":492,"output_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}""",
        rb"""{"type":"assistant","message":{"id":"f0b6ebc6-51d3-4d00-9471-1b68aec44116","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"API Error: Claude's response exceeded the 64000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable."}]},"error":"max_output_tokens"}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":null,"num_turns":1,"result":"API Error: Claude's response exceeded the 64000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.","stop_reason":"stop_sequence","total_cost_usd":0.017240000000000002,"usage":{"input_tokens":1684,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":8},"modelUsage":{"claude-fable-5":{"inputTokens":1684,"outputTokens":8,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.017240000000000002}},"terminal_reason":"completed"}""",
    ]
)
REFUSAL = b"\n".join(
    [
        rb"""{"type":"system","subtype":"model_refusal_no_fallback","original_model":"claude-fable-5","content":""}""",
        rb"""{"type":"assistant","message":{"id":"ccac1bbd-15de-49af-b4b8-bc82bc03ebff","model":"<synthetic>","role":"assistant","stop_reason":"refusal","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"API Error: Fable 5's safeguards flagged this message (https://www.anthropic.com/legal/aup). This sometimes happens with safe, normal conversations. Claude Code can't respond to this request with Fable 5.\n\nTry rephrasing the request in a new session or change your model.\n\nLearn more: https://support.claude.com/en/articles/15363606"}]},"error":"invalid_request"}""",
        rb"""{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1796377420,"rateLimitType":"seven_day","overageStatus":"rejected","isUsingOverage":false}}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":null,"num_turns":1,"result":"API Error: Fable 5's safeguards flagged this message (https://www.anthropic.com/legal/aup). This sometimes happens with safe, normal conversations. Claude Code can't respond to this request with Fable 5.\n\nTry rephrasing the request in a new session or change your model.\n\nLearn more: https://support.claude.com/en/articles/15363606","stop_reason":"refusal","total_cost_usd":0.00355,"usage":{"input_tokens":350,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1},"modelUsage":{"claude-fable-5":{"inputTokens":350,"outputTokens":1,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.00355}},"terminal_reason":"completed"}""",
    ]
)
REFUSAL_THEN_FALLBACK = b"\n".join(
    [
        rb"""{"type":"system","subtype":"model_refusal_fallback","trigger":"refusal","direction":"retry","original_model":"claude-fable-5","fallback_model":"claude-opus-4-8","content":"This model's safeguards flagged this message. This sometimes happens with safe, normal conversations. Switched to Opus 4.8. Send feedback with /feedback or learn more: https://support.claude.com/en/articles/15363606"}""",
        rb"""{"type":"system","subtype":"model_refusal_no_fallback","original_model":"claude-opus-4-8","content":""}""",
        rb"""{"type":"assistant","message":{"id":"9282027f-21c0-4203-926e-b0c73be4c4b8","model":"<synthetic>","role":"assistant","stop_reason":"refusal","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (https://www.anthropic.com/legal/aup). Try rephrasing the request in a new session or change your model."}]},"error":"invalid_request"}""",
        rb"""{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1796376353,"rateLimitType":"seven_day","overageStatus":"rejected","isUsingOverage":false}}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":null,"num_turns":1,"result":"API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (https://www.anthropic.com/legal/aup). Try rephrasing the request in a new session or change your model.","stop_reason":"refusal","total_cost_usd":0.001875,"usage":{"input_tokens":120,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1},"modelUsage":{"claude-fable-5":{"inputTokens":120,"outputTokens":1,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.00125},"claude-opus-4-8":{"inputTokens":120,"outputTokens":1,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.000625}},"terminal_reason":"completed"}""",
    ]
)
SESSION_WALL = b"\n".join(
    [
        rb"""{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1796064205,"rateLimitType":"five_hour","overageStatus":"rejected","isUsingOverage":false}}""",
        rb"""{"type":"assistant","message":{"id":"1d46d5b1-4ff1-4a86-a516-c51a033effbe","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"You've hit your limit \u00b7 resets 6:43pm (UTC)"}]},"error":"rate_limit"}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"num_turns":1,"result":"You've hit your limit \u00b7 resets 6:43pm (UTC)","stop_reason":"stop_sequence","total_cost_usd":0,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"modelUsage":{},"terminal_reason":"completed"}""",
    ]
)
FABLE_WALL = b"\n".join(
    [
        rb"""{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1796377414,"rateLimitType":"seven_day_overage_included","overageStatus":"rejected","isUsingOverage":false}}""",
        rb"""{"type":"assistant","message":{"id":"fa3e9e03-e7d8-43e8-94d3-ee1cc4b2109b","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"You've reached your Fable 5 limit. Run /usage-credits to continue or switch models with /model."}]},"error":"rate_limit"}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"num_turns":1,"result":"You've reached your Fable 5 limit. Run /usage-credits to continue or switch models with /model.","stop_reason":"stop_sequence","total_cost_usd":0,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"modelUsage":{},"terminal_reason":"completed"}""",
    ]
)
THROTTLE = b"\n".join(
    [
        rb"""{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","isUsingOverage":false}}""",
        rb"""{"type":"assistant","message":{"id":"62a1c5eb-cd2f-4707-8cc1-02eb7e5f3dad","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"API Error: Server is temporarily limiting requests (not your usage limit) \u00b7 Rate limited. Please try again later."}]},"error":"rate_limit"}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"num_turns":1,"result":"API Error: Server is temporarily limiting requests (not your usage limit) \u00b7 Rate limited. Please try again later.","stop_reason":"stop_sequence","total_cost_usd":0,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"modelUsage":{},"terminal_reason":"completed"}""",
    ]
)
REJECTED = b"\n".join(
    [
        rb"""{"type":"assistant","message":{"id":"4a563e66-141a-4686-a87d-4b84bf278e99","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"Failed to authenticate. API Error: 401 OAuth token has expired. Please obtain a new token or refresh your existing token."}]},"error":"authentication_failed"}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"num_turns":1,"result":"Failed to authenticate. API Error: 401 OAuth token has expired. Please obtain a new token or refresh your existing token.","stop_reason":"stop_sequence","total_cost_usd":0,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"modelUsage":{},"terminal_reason":"completed"}""",
    ]
)
OUTAGE = b"\n".join(
    [
        rb"""{"type":"assistant","message":{"id":"ef51241d-38e3-4cba-87f6-a1541b526fff","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"API Error: 500 Internal server error. This is a server-side issue, usually temporary \u2014 try again in a moment. If it persists, check https://status.claude.com."}]},"error":"server_error"}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":500,"num_turns":1,"result":"API Error: 500 Internal server error. This is a server-side issue, usually temporary \u2014 try again in a moment. If it persists, check https://status.claude.com.","stop_reason":"stop_sequence","total_cost_usd":0,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"modelUsage":{},"terminal_reason":"completed"}""",
    ]
)
PORTAL = b"\n".join(
    [
        rb"""{"type":"assistant","message":{"id":"c867b860-c2a7-49bc-bc93-c753d8bd1da6","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"Failed to authenticate. API Error: Just a moment..."}]},"error":"authentication_failed"}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":403,"num_turns":1,"result":"Failed to authenticate. API Error: Just a moment...","stop_reason":"stop_sequence","total_cost_usd":0,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"modelUsage":{},"terminal_reason":"completed"}""",
    ]
)
OFFLINE = b"\n".join(
    [
        rb"""{"type":"assistant","message":{"id":"a458a669-0568-4275-82ff-b8e096be160f","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"API Error: Unable to connect to API (ConnectionRefused)"}]},"error":"server_error"}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":null,"num_turns":1,"result":"API Error: Unable to connect to API (ConnectionRefused)","stop_reason":"stop_sequence","total_cost_usd":0,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"modelUsage":{},"terminal_reason":"completed"}""",
    ]
)
LOGGED_OUT = b"\n".join(
    [
        rb"""{"type":"assistant","message":{"id":"489b84fd-a70f-4a01-bb45-726fb4b0bd30","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"Not logged in \u00b7 Please run /login"}]},"error":"authentication_failed"}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":null,"num_turns":1,"result":"Not logged in \u00b7 Please run /login","stop_reason":"stop_sequence","total_cost_usd":0,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"modelUsage":{},"terminal_reason":"completed"}""",
    ]
)
POOR_KEY = b"\n".join(
    [
        rb"""{"type":"assistant","message":{"id":"00b616b1-c7e8-450a-b2c0-39d4ede5f02d","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"Credit balance is too low"}]},"error":"billing_error"}""",
        rb"""{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"num_turns":1,"result":"Credit balance is too low","stop_reason":"stop_sequence","total_cost_usd":0,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"modelUsage":{},"terminal_reason":"completed"}""",
    ]
)
CODEX_ANSWER = b"\n".join(
    [
        rb"""{"type":"thread.started"}""",
        rb"""{"type":"turn.started"}""",
        rb"""{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"{\"nonce\": \"n-123\", \"resolvable\": true, \"rec\": \"opt_b\", \"kind\": \"\", \"gap\": \"\", \"touches\": [], \"rationale\": \"cheaper to undo\"}"}}""",
        rb"""{"type":"turn.completed","usage":{"input_tokens":236,"cached_input_tokens":0,"cache_write_input_tokens":0,"output_tokens":32,"reasoning_output_tokens":0}}""",
    ]
)
CODEX_WALL = b"\n".join(
    [
        rb"""{"type":"thread.started"}""",
        rb"""{"type":"turn.started"}""",
        rb"""{"type":"error","message":"You\u2019ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at 6:46 PM."}""",
        rb"""{"type":"turn.failed","error":{"message":"You\u2019ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at 6:46 PM."}}""",
    ]
)
CODEX_WEEK_WALL = b"\n".join(
    [
        rb"""{"type":"thread.started"}""",
        rb"""{"type":"turn.started"}""",
        rb"""{"type":"error","message":"You\u2019ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at Dec 4th, 2026 9:46 AM."}""",
        rb"""{"type":"turn.failed","error":{"message":"You\u2019ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at Dec 4th, 2026 9:46 AM."}}""",
    ]
)
CODEX_CUT_OFF = b"\n".join(
    [
        rb"""{"type":"thread.started"}""",
        rb"""{"type":"turn.started"}""",
        rb"""{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"{\"nonce\": \"n-123\", \"resolvable\": true, \"rec\": \"opt_b\", \"kind\": \"\", \"gap\": \"\", \"touches\": [], \"rationale\": \"cheaper to undo\"}"}}""",
        rb"""{"type":"error","message":"Incomplete response returned, reason: max_output_tokens"}""",
        rb"""{"type":"turn.failed","error":{"message":"Incomplete response returned, reason: max_output_tokens"}}""",
    ]
)
CODEX_THROTTLE = b"\n".join(
    [
        rb"""{"type":"thread.started"}""",
        rb"""{"type":"turn.started"}""",
        rb"""{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}""",
        rb"""{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}""",
    ]
)
CODEX_OFFLINE = b"\n".join(
    [
        rb"""{"type":"thread.started"}""",
        rb"""{"type":"turn.started"}""",
        rb"""{"type":"error","message":"Reconnecting... 2/5 (workspace routing discovery failed)"}""",
        rb"""{"type":"error","message":"workspace routing discovery failed"}""",
        rb"""{"type":"turn.failed","error":{"message":"workspace routing discovery failed"}}""",
    ]
)
CODEX_SPENT_LOGIN = b"\n".join(
    [
        rb"""{"type":"thread.started"}""",
        rb"""{"type":"turn.started"}""",
        rb"""{"type":"error","message":"Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again."}""",
        rb"""{"type":"turn.failed","error":{"message":"Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again."}}""",
    ]
)
