"""Rules for text that makes an agent give away what it knows: prompts, secrets, conversations."""

from codeflow_memory.domain.scan_rule import Rule, Severity, gap, row

_SECRETS = (
    r"(?:\.env\b|\.ssh\b|id_rsa|secrets?\b|tokens?\b|credentials?\b|passwords?\b|api[ _-]?keys?\b"
    r"|private keys?\b|ssh keys?\b|environment variables?\b|chat history|conversation history)"
)
_FILES = (
    r"(?:\.env\b(?!\.(?:example|sample|template|dist))|\.ssh\b|id_(?:rsa|ed25519|ecdsa|dsa)\b"
    r"|\.netrc|\.pgpass|\.npmrc|\.pypirc|\.git-credentials|\.aws\b|\.kube/config|/etc/shadow"
    r"|credentials\.json)"
)
_FILE_MARKS = (
    ".env;.ssh;id_rsa;id_ed25519;id_ecdsa;id_dsa;.netrc;.pgpass;.npmrc;.pypirc;.git-credentials;"
    ".aws;.kube;shadow;credentials.json"
)
_VARIABLE = r"\$\{?[a-z_]{0,30}(?:key|token|secret|passw(?:or)?d|credential)[a-z_]{0,10}"

LEAKS: tuple[Rule, ...] = (
    row(
        "disclosure",
        Severity.HIGH,
        "prompt;instructions;developer message;system message",
        rf"\b(?:reveal|print|show|repeat|output|disclose|leak|recite|display|paste|quote"
        rf"|write out)\b{gap(40)}"
        r"\b(?:system prompt|hidden (?:prompt|instructions)|(?:your|initial"
        r"|developer) (?:instructions|prompt)|your (?:\w{1,12} )?(?:instructions|prompt|message))\b"
        r"|\bwhat (?:are|is|were|was) your (?:\w{1,12} )?(?:\w{1,12} )?(?:instructions|prompt)\b",
        advice=True,
    ),
    row(
        "disclosure",
        Severity.HIGH,
        "above;before this;preceding",
        r"\b(?:print|output|repeat|show|reveal|display|recite"
        r"|quote)\s{1,3}(?:me\s{1,3})?(?:back\s{1,3})?"
        r"(?:everything|all(?: the)? text|the (?:full |whole )?text|all (?:words|lines)"
        r"|the words)\s{1,3}"
        r"(?:that (?:is|comes|stands) )?(?:above|before this|preceding)\b",
        advice=True,
    ),
    row(
        "disclosure",
        Severity.HIGH,
        "reveal;exfiltrate;disclose",
        r"\b(?:reveal|exfiltrate|disclose)\s{1,3}(?:(?:all|the|your|any|every|its|stored)"
        r"\s{1,3}){0,3}" + _SECRETS,
        advice=True,
    ),
    row(
        "exfiltration",
        Severity.HIGH,
        ".env;.ssh;id_rsa;secret;token;credential;password;key;environment var;history",
        rf"\b(?:send|upload|forward|exfiltrate|transmit|e-?mail|post|leak|deliver"
        rf"|submit)\b{gap(25)}"
        r"\b(?:contents? of|all|every|any|user'?s|your|stored)\b[^\n]{0,30}?"
        + _SECRETS
        + r"[^\n]{0,60}?(?:https?://|\bto\s{1,3}\S{1,60}@|\bthere\b|\bwebhook\b)",
        also="http;@;there;webhook",
        advice=True,
    ),
    row(
        "exfiltration",
        Severity.HIGH,
        "content;" + _FILE_MARKS,
        rf"\b(?:send|upload|forward|exfiltrate|transmit|e-?mail|post|leak|publish|paste"
        rf"|copy)\b{gap(12)}"
        r"\bcontents? of\b[^\n]{0,20}?(?:" + _FILES + r"|private key)",
        advice=True,
    ),
    row(
        "exfiltration",
        Severity.HIGH,
        "conversation;chat;transcript;message;history;session;prompt",
        rf"\b(?:send|upload|forward|exfiltrate|transmit|e-?mail|post|leak|append|copy)\b{gap(25)}"
        r"\b(?:(?:conversation|chat|session|prompt)(?: (?:history|log|logs|transcript|so far))?"
        r"|transcript"
        r"|(?:last|user'?s) messages?)\b[^\n]{0,30}?(?:https?://|\bto\s{1,3}\S{1,60}@|\bwebhook\b)",
        also="http;@;webhook",
        advice=True,
    ),
    row(
        "exfiltration",
        Severity.HIGH,
        "url;http;query;commit message;pull request;description;comment;gist;pastebin;image;"
        "public;branch name",
        r"\b(?:append|add|attach|put|include|embed|insert|write|paste|copy|place"
        r"|encode)\b[^\n]{0,40}?"
        rf"(?:{_SECRETS}|\b[a-z]{{1,20}}_(?:url|key|token|secret)\b)[^\n]{{0,40}}?\b(?:in|into|to"
        rf"|as|at|on|of)\b"
        r"[^\n]{0,25}?(?:\burl\b|https?://|\bquery\b|commit messages?|pull requests?"
        r"|descriptions?\b"
        r"|\bcomments?\b|\bgist\b|pastebin|\bimage\b|\bpublic\b|\bbranch name\b)",
        also="secret;token;credential;password;key;environment var;.env;_url;id_rsa;.ssh;history",
        advice=True,
    ),
    row(
        "exfiltration",
        Severity.HIGH,
        "private key;.ssh;id_rsa;.env;.aws;.netrc;id_ed25519",
        r"\bread\b[^\n]{0,30}?(?:private key"
        r"|" + _FILES + r")[^\n]{0,30}?\band\s{1,3}(?:then\s{1,3})?"
        r"(?:include|put|send|post|paste|pass|append|attach|upload|return|write|commit|print)\b",
        advice=True,
    ),
    row(
        "exfiltration-link",
        Severity.HIGH,
        "](http;](//;<img",
        r"!\[[^\]\n]{0,200}\]\(\s{0,3}(?:https?:)?//[^)\s]{1,200}?(?:[?&][a-z_]{1,20}=(?=[)\s&\"])"
        r"|[?&/=.][^)\s/]{0,40}?(?:\{|%7b|\$[a-z_({]|<[a-z]|\[[a-z])"
        r"|[?&][a-z_]{1,20}=[^)\s&]{0,60}?(?:secret|passw|api_?key|base64|conversation|history"
        r"|memory"
        r"|(?<![a-z])(?:token|data|content|chat|prompt|env)(?![a-z])))"
        r"|<img\b[^<>]{0,120}?src\s{0,2}=\s{0,2}[\"']?(?:https?:)?//[^\"'<>\s]{1,200}?[?&]"
        r"[a-z_]{1,20}="
        r"[^\"'<>\s&]{0,60}?(?:\{|\$|secret|passw|token|base64|history|conversation|cookie"
        r"|(?<![a-z])data)",
    ),
    row(
        "exfiltration-link",
        Severity.HIGH,
        "image whose;images whose;picture whose;pictures whose;link whose;links whose;= followed;"
        "= with;= plus;= and;= then",
        rf"\b(?:image|picture|link)s? whose (?:address|url|source|link"
        rf"|src){gap(20)}\b(?:contains?|carr(?:y|ies)"
        r"|encodes?|has|includes?|ends? (?:in|with))\b"
        r"|\b(?:fetch|open|request|call|visit|load"
        r"|get)\s{1,3}https?://[^\s?]{1,120}\?[^\s=]{1,30}=\s{1,3}"
        r"(?:followed by|with|plus|and then|then)\b",
        advice=True,
    ),
    row(
        "active-link",
        Severity.HIGH,
        "javascript:;vbscript:;data:text/html",
        r"\]\(\s{0,3}<?(?:javascript:|vbscript:|data:text/html)"
        r"|href\s{0,2}=\s{0,2}[\"']?(?:javascript:|vbscript:"
        r"|data:text/html)",
    ),
    row(
        "exfiltration-command",
        Severity.HIGH,
        "printenv;env |;env|;$(env;$( env;$(cat;$( cat;$(whoami;$(id;$(hostname;`cat;"
        + _FILE_MARKS,
        r"\b(?:curl|wget)\s[^\n]{0,160}?(?:-d|--data[a-z-]{0,12}|-f|--form|-t|--upload-file"
        r"|--post-file)[ =]{0,2}[\"']?"
        r"(?:[a-z]{1,20}=)?@?(?:\$\(\s{0,2}(?:env|printenv|cat\s[^)\n]{0,60}" + _FILES + r")"
        r"|(?:~|\$home)?[\w./]{0,40}?" + _FILES + r")"
        r"|\b(?:cat|tar|zip|gzip|base64|xxd)\b\s[^|\n]{0,60}" + _FILES + r"[^"
        r"|\n]{0,60}\|[^\n]{0,60}?\b(?:curl|wget|nc"
        r"|ncat|socat|ssh|mail|telnet)\b"
        r"|\b(?:printenv|env)\s{0,3}\|[^\n]{0,40}?\b(?:curl|wget|nc|ncat|socat|ssh|mail|telnet)\b"
        r"|\b(?:curl|wget|nslookup|dig|ping|host|telnet)\s[^\n]{0,160}?(?:\$\("
        r"|`)\s{0,2}(?:cat\s[^)\n]{0,60}" + _FILES + r"|env\b|printenv\b|history\b)"
        r"|\b(?:curl|wget)\s[^\n]{0,120}?https?://[^\s\"']{0,120}?[?&][^\s\"'=]{0,30}=(?:\$\("
        r"|`)\s{0,2}(?:whoami|id|hostname|cat|env|printenv)\b"
        r"|\b(?:scp|rsync)(?:\s{1,3}-[a-hj-z]{1,8}){0,4}\s{1,3}(?:~"
        r"|\$home)?/?[\w./]{0,40}?" + _FILES + r"\S{0,40}\s{1,3}"
        r"\S{1,60}:",
    ),
    row(
        "exfiltration-command",
        Severity.MEDIUM,
        "environ;process.env;document.cookie;$",
        rf"\b(?:curl|wget)\s[^\n]{{0,120}}?https?://[^\s\"'@]{{1,120}}?[?&/=]{_VARIABLE}"
        r"|(?:urlopen|requests\.(?:post|get|put)|fetch|axios\.(?:post"
        r"|get))\([^\n]{0,160}?(?:(?:str|dict|repr)\(os\.environ\)"
        r"|json\.stringify\(process\.env\)|[+=,]\s{0,2}process\.env\s{0,2}\)|document\.cookie)",
        also="curl;wget;urlopen;requests.;fetch(;axios",
    ),
    row(
        "exfiltration-command",
        Severity.HIGH,
        "/dev/tcp/;/dev/udp/;/bin/sh;/bin/bash;--mirror;--all",
        r"\b(?:bash|sh|zsh)\s{1,3}-i\b[^\n]{0,20}/dev/(?:tcp|udp)/|\bn(?:c"
        r"|cat)\b[^\n]{0,40}?\s-[a-z]{0,4}[ec]\s{0,2}/bin/"
        r"|\bgit\s{1,3}remote\s{1,3}add\s[^\n]{0,100}?(?:&&"
        r"|;)\s{0,3}git\s{1,3}push\s[^\n]{0,40}?--(?:all|mirror)\b",
    ),
    row(
        "encoded-order",
        Severity.MEDIUM,
        "decode;base64;rot13;hex;base32",
        rf"\b(?:decode|decrypt|base64|base32|rot13|hex)\b{gap(50)}(?:\band|,"
        rf"|;)\s{{1,3}}(?:apply it and\s{{1,3}})?(?:then\s{{1,3}})?"
        r"(?:execute|obey|follow (?:it|them|what)|do what|carry out|run (?:it|the result|what)"
        r"|comply)\b",
        advice=True,
    ),
    row(
        "encoded-order",
        Severity.HIGH,
        "base64;atob;xxd;b64decode;fromcharcode",
        r"\bbase64\s{1,3}(?:-d|-D|--decode)\b[^|\n]{0,20}\|\s{0,3}(?:sudo\s{1,3})?(?:ba|z|da)?sh\b"
        r"|\bxxd\s{1,3}-r\b[^|\n]{0,20}\|\s{0,3}(?:sudo\s{1,3})?(?:ba|z|da)?sh\b"
        r"|\beval\s{0,2}\(\s{0,2}(?:atob|buffer\.from|string\.fromcharcode)\s{0,2}\("
        r"|\b(?:exec|eval)\s{0,2}\([^\n]{0,60}?b64decode\s{0,2}\(",
    ),
)
