"""The catalogue of text that addresses the reading agent instead of informing it: one row each.

Patterns read the text in lower case, without compatibility forms and widthless characters. Every
gap is bounded and stays within a sentence, so that a text is read in linear time.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from codeflow_memory.domain.patterns import compiled


class Severity(StrEnum):
    """How sure a finding is to be an attack; each sends its item to review."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row.

    ``marks`` are words of which one must occur in the text. With ``advice`` the rule does not
    hold where the act is forbidden: "never reveal the token" is guidance. With ``cased`` the
    pattern reads the text as it is written.
    """

    name: str
    severity: Severity
    marks: tuple[str, ...]
    expression: str
    advice: bool = False
    cased: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """What the text says where the rule holds."""
        return compiled(self.expression, re.M)


def _rule(name: str, severity: Severity, marks: str, pattern: str, **how: bool) -> Rule:
    return Rule(name, severity, tuple(marks.split(";")), pattern, **how)


_SECRETS = (
    r"(?:\.env\b|\.ssh\b|id_rsa|secrets?\b|tokens?\b|credentials?\b|passwords?\b|api[ _-]?keys?\b"
    r"|private keys?\b|ssh keys?\b|environment variables?\b|chat history|conversation history)"
)

_OVERRIDE = (
    _rule(
        "instruction-override",
        Severity.HIGH,
        "ignore;disregard;forget;override;neglect;bypass",
        r"\b(?:ignore|disregard|forget|override|neglect|bypass)\b[^.\n]{0,30}?"
        r"\b(?:previous|prior|above|earlier|preceding|foregoing|original|initial|system"
        r"|safety|your)\b"
        r"[^.\n]{0,25}?\b(?:instructions?|prompts?|directives?|guardrails?|guidelines|orders)\b",
        advice=True,
    ),
    _rule(
        "instruction-override",
        Severity.HIGH,
        "ignore;disregard;forget",
        r"\b(?:ignore|disregard|forget)\s{1,3}(?:all|any|every)\s{1,3}(?:of\s{1,3})?(?:the"
        r"\s{1,3}|your\s{1,3})?"
        r"(?:other\s{1,3})?(?:instructions?|prompts?|directives?|safety rules)\b",
        advice=True,
    ),
    _rule(
        "instruction-override",
        Severity.HIGH,
        "ignore;disregard;forget",
        r"\b(?:ignore|disregard|forget)\s{1,3}(?:everything|all|anything)\s{1,3}(?:that\s{1,3})?"
        r"(?:above|before|you (?:were|have been|know)|(?:i|we) (?:said|told)|previously)",
        advice=True,
    ),
    _rule(
        "instruction-override",
        Severity.HIGH,
        "instructions",
        r"^[\s#>*-]{0,6}(?:new|real|actual|true)\s{1,3}(?:system\s{1,3})?instructions?\s{0,3}:",
    ),
    _rule(
        "instruction-override",
        Severity.HIGH,
        "instrucciones;instructions;instruções;anweisungen;befehle;regeln;инструкции;указания",
        r"\b(?:ignora\w{0,3}\s{1,3}(?:todas\s{1,3})?las\s{1,3}instrucciones"
        r"\s{1,3}(?:anteriores|previas)"
        r"|ignore[rz]?\s{1,3}(?:toutes\s{1,3})?les\s{1,3}instructions"
        r"\s{1,3}(?:pr[ée]c[ée]dentes|ant[ée]rieures)"
        r"|ignore\s{1,3}(?:todas\s{1,3})?as\s{1,3}instruções\s{1,3}(?:anteriores|prévias)"
        r"|(?:ignorier|vergiss|missacht)\w{0,3}\s{1,3}(?:alle\s{1,3})?(?:vorherigen"
        r"|bisherigen|vorigen|obigen)"
        r"\s{1,3}(?:anweisungen|befehle|regeln)"
        r"|(?:игнорируй|забудь)\w{0,3}\s{1,3}(?:все\s{1,3})?(?:предыдущие|прежние)"
        r"\s{1,3}(?:инструкции|указания))",
    ),
    _rule(
        "instruction-override",
        Severity.HIGH,
        "忽略;无视;忘记;忘掉;不要理会;不要遵守;绕过;無視;忽視",
        r"(?:忽略|无视|忘记|忘掉|不要理会|不要遵守|绕过|無視|忽視)[^。\n]{0,8}"
        r"(?:(?:之前|以前|以上|上述|上面|先前|前面|系统|系統|原有)[^。\n]{0,8}(?:指令|指示|提示词|提示詞|规则|規則|要求|命令|设定|约束)"
        r"|(?:所有|全部|一切)[^。\n]{0,4}(?:指令|指示|提示词|命令))",
        advice=True,
    ),
    _rule(
        "instruction-override",
        Severity.HIGH,
        "指示;命令;プロンプト;지시;명령;지침",
        r"(?:以前|これまで|上記|前)の(?:すべての|全ての)?(?:指示|命令|プロンプト)(?:を|は)(?:すべて|全て)?(?:無視|忘れ)"
        r"|(?:이전|위의|앞의)\s{0,3}(?:모든\s{0,3})?(?:지시|명령|지침)(?:사항)?[을를]?\s{0,3}(?:모두"
        r"\s{0,3})?(?:무시|잊)",
    ),
)

_ROLES = (
    _rule(
        "role-change",
        Severity.HIGH,
        "you are now;you are no;from now on;pretend;as if you;imagine;do anything now;dan mode"
        ";god mode;jailbreak mode;unrestricted mode;developer mode",
        r"\byou are (?:now|no longer)\s{1,3}(?:(?:in|an?|the|my|bound|acting|operating"
        r"|subject|restricted|free)\b"
        r"|dan\b|root\b|jailbroken|unrestricted)"
        r"|\bfrom now on,?\s{1,3}you\s{1,3}(?:are|will (?:act|obey|behave)|must obey|have no)\b"
        r"|\b(?:pretend|act as if|imagine)\s{1,3}(?:that\s{1,3})?you\s{1,3}(?:are|have|had)"
        r"\s{1,3}"
        r"(?:no|not|an?\s{1,3}(?:unrestricted|unfiltered|evil|different)|dan\b|root\b)"
        r"|\b(?:enter|activate|you are in)\s{1,3}(?:dan|god|jailbreak|unrestricted"
        r"|developer)\s{1,3}mode\b"
        r"|\bdo anything now\b",
    ),
    _rule(
        "role-change",
        Severity.HIGH,
        "你现在;从现在;你不再;假装你;你現在;從現在",
        r"(?:你现在(?:是|处于|进入)|你現在(?:是|處於)|从现在(?:起|开始),?\s{0,2}你(?:是|将|必须|不再)|你不再(?:是|受)"
        r"|假装你(?:是|没有))",
    ),
    _rule(
        "role-marker",
        Severity.HIGH,
        "system;assistant;developer",
        r"^[\s#>*\[]{0,6}(?:system|assistant|developer)(?: (?:prompt|message|override"
        r"|note))?[\]*]{0,3}\s{0,2}:"
        r"[\s*]{0,4}(?:you\b|ignore\b|obey\b|disregard\b|from now\b|override\b|reveal\b"
        r"|forget\b)",
    ),
    _rule(
        "chat-template",
        Severity.HIGH,
        "<|;|>;[inst];[/inst];<<sys>>;<</sys>>;_of_turn>",
        r"<\|[A-Za-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>",
        cased=True,
    ),
    _rule(
        "tool-marker",
        Severity.HIGH,
        "<system;</system;<assistant;</assistant;<tool;</tool;<function;</function;<antml;</antml",
        r"(?<!\w)</?(?:system|assistant)(?:[-_](?:reminder|prompt|message|instructions?))?>"
        r"|</?(?:tool_(?:call|calls|result|results|use|response)|function_(?:calls?"
        r"|results?)|antml:[a-z_]{1,20})\b",
    ),
)

_ACTS = (
    _rule(
        "concealment",
        Severity.HIGH,
        "tell;telling;inform;let",
        r"\b(?:do not|don['\u2019]t|never|without)\s{1,3}(?:tell(?:ing)?|inform(?:ing)?"
        r"|let(?:ting)?(?=[\w ]{1,30}\bknow\b))\s{1,3}(?:the\s{1,3}|your\s{1,3})?"
        r"(?:user|them|him|her|anyone|anybody|human|operator|reviewers?|owner|developers?|people)\b"
        r"(?!\s{1,3}(?:to|how|that they|which|what|wait|choose|pick|edit|submit|click|delete"
        r"|enter|set))",
    ),
    _rule(
        "concealment",
        Severity.HIGH,
        "secretly;silently;covertly",
        r"\b(?:secretly|silently|covertly)\s{1,3}(?:send|upload|exfiltrate|forward|post|copy"
        r"|approve|e-?mail|transmit)\b",
        advice=True,
    ),
    _rule(
        "concealment",
        Severity.HIGH,
        "告诉;告知;透露;告訴",
        r"(?:不要|别|不得|请勿|切勿|不能)(?:告诉|告知|透露给|告訴)(?:用户|任何人|他|她|对方|开发者|管理员|别人|用戶|使用者)",
    ),
    _rule(
        "disclosure",
        Severity.HIGH,
        "prompt;instructions",
        r"\b(?:reveal|print|show|repeat|output|disclose|leak)\b[^.\n]{0,25}?"
        r"\b(?:system prompt|hidden (?:prompt|instructions)|(?:your|initial"
        r"|developer) (?:instructions|prompt))\b",
        advice=True,
    ),
    _rule(
        "disclosure",
        Severity.HIGH,
        "reveal;exfiltrate;disclose",
        r"\b(?:reveal|exfiltrate|disclose)\s{1,3}(?:(?:all|the|your|any|every|its|stored)"
        r"\s{1,3}){0,3}" + _SECRETS,
        advice=True,
    ),
    _rule(
        "disclosure",
        Severity.HIGH,
        "系统提示;隐藏指令;系統提示",
        r"(?:输出|显示|打印|泄露|透露|告诉我|重复|輸出)[^。\n]{0,8}(?:系统提示|隐藏指令|系統提示)",
        advice=True,
    ),
    _rule(
        "exfiltration",
        Severity.HIGH,
        ".env;.ssh;id_rsa;secret;token;credential;password;key;environment var;history",
        r"\b(?:send|upload|forward|exfiltrate|transmit|e-?mail|post|leak)\b[^.\n]{0,25}?"
        r"\b(?:contents? of|all|every|any|user'?s|your|stored)\b[^\n]{0,30}?"
        + _SECRETS
        + r"[^\n]{0,60}?(?:https?://|\bto\s{1,3}\S{1,60}@|\bthere\b|\bwebhook\b)",
        advice=True,
    ),
    _rule(
        "exfiltration",
        Severity.HIGH,
        "contents;content",
        r"\b(?:send|upload|forward|exfiltrate|transmit|e-?mail|post|leak)\b[^.\n]{0,12}?"
        r"\bcontents? of\b[^\n]{0,20}?"
        r"(?:\.env\b|\.ssh\b|id_rsa|\.netrc|\.aws\b|private key)",
        advice=True,
    ),
    _rule(
        "exfiltration",
        Severity.HIGH,
        "密钥;密码;令牌;凭证;凭据;私钥;token;.env;环境变量;密鑰;密碼",
        r"(?:密钥|密码|令牌|凭证|凭据|私钥|token|\.env|环境变量|密鑰|密碼)[^。\n]{0,15}"
        r"(?:发送|上传|发给|发到|传到|转发|泄露|發送|上傳)[^。\n]{0,10}(?:https?://|@|外部|陌生|邮箱)",
        advice=True,
    ),
    _rule(
        "exfiltration-link",
        Severity.HIGH,
        "](http",
        r"!\[[^\]\n]{0,200}\]\(\s{0,3}https?://[^)\s]{1,200}?[?&](?:d|data|q|s|secret|token"
        r"|key|c|content|payload"
        r"|exfil|text|t|msg|message|leak|info|u|user|p|x)=|"
        r"!\[[^\]\n]{0,200}\]\(\s{0,3}https?://[^)\s]{1,200}?[?&][^)\s]{0,80}?=[^)\s&]{0,40}?(?:\{|\$|secret|password|api_?key)",
    ),
    _rule(
        "active-link",
        Severity.HIGH,
        "javascript:;vbscript:;data:text/html",
        r"\]\(\s{0,3}(?:javascript:|vbscript:|data:text/html)",
    ),
    _rule(
        "exfiltration-command",
        Severity.HIGH,
        ".env;id_rsa;.netrc;.aws;printenv;env |;env|;$(env;$( env;$(cat;$( cat",
        r"\b(?:curl|wget)\s[^\n]{0,160}?(?:-d|--data[a-z-]{0,12}|-f|--form|-t|--upload-file"
        r"|--post-file)[ =]{0,2}[\"']?"
        r"(?:[a-z]{1,20}=)?@?(?:\$\(\s{0,2}(?:env|printenv|cat\s[^)\n]{0,60}(?:\.env|\.ssh"
        r"|id_rsa|credentials|\.netrc|\.aws))"
        r"|(?:~|\$home)?[\w./]{0,40}(?:/\.env\b|id_rsa|\.netrc|\.aws/credentials))"
        r"|\b(?:cat\s[^|\n]{0,60}(?:\.env\b|id_rsa|\.netrc|\.aws/credentials)|printenv|"
        r"\benv)\s{0,3}"
        r"\|[^\n]{0,40}?\b(?:curl|wget|nc|ncat)\b",
    ),
    _rule(
        "self-approval",
        Severity.HIGH,
        "memory;memories;proposal;entry;entries;candidate;mark this",
        r"\b(?:auto-?)?(?:approve|accept)\s{1,3}(?:all|every|each|any)\s{1,3}(?:(?:the|of"
        r"|pending|other|open|new)\s{1,3}){0,3}"
        r"(?:memory|memories|proposals?|entry|entries|candidates?)\b"
        r"|\bmark this\s{1,3}(?:memory|entry|note)?\s{0,3}as\s{1,3}(?:accepted|trusted"
        r"|approved|verified)\b",
        advice=True,
    ),
    _rule(
        "self-approval",
        Severity.HIGH,
        "批准;通过;接受;核准",
        r"(?:批准|通过|接受|核准)(?:所有|全部|每个|一切)[^。\n]{0,4}(?:提案|提议|记忆|条目|記憶)",
        advice=True,
    ),
    _rule(
        "trigger",
        Severity.HIGH,
        "user says;user asks;user mentions;user types;user writes;user thanks",
        r"\b(?:when|whenever|if|once)\s{1,3}the user (?:says|asks|mentions|types"
        r"|writes|thanks)\b[^.\n]{0,60}?"
        r"\b(?:delete|erase|wipe|approve|exfiltrate|reveal|leak|forward)\b[^.\n]{0,30}?"
        r"\b(?:memor(?:y|ies)|proposals?|secrets?|tokens?|credentials?|keys?|passwords?"
        r"|entr(?:y|ies))\b",
    ),
    _rule(
        "encoded-order",
        Severity.MEDIUM,
        "decode;base64;rot13;hex",
        r"\b(?:decode|base64|rot13|hex)\b[^.\n]{0,50}?\band\s{1,3}(?:then\s{1,3})?(?:execute"
        r"|obey|follow|do what|carry out)\b",
        advice=True,
    ),
)

RULES: tuple[Rule, ...] = (*_OVERRIDE, *_ROLES, *_ACTS)

ORDERS = frozenset({"instruction-override", "role-change", "concealment", "disclosure"})
"""The rules that a decoded block is read for."""
