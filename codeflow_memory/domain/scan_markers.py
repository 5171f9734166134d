"""Rules for text that plays another part: turns of a chat, calls of tools, roles, hidden markup."""

from codeflow_memory.domain.scan_rule import Rule, Severity, gap, row

_TO_READER = (
    r"(?:\byou (?:must|should|shall|will|need|have to|are to)\b"
    r"|\b(?:ai|llm|assistant|agent|claude|copilot|chatbot|language model)s?\b"
    r"|\b(?:obey|exfiltrate|approve|execute|run|push|merge|skip|reveal|delete|install)"
    r" (?:the|this|all|every|it|any|setup|without|first)\b"
    r"|\bignore (?:the (?!line|rule|next|warning|block|error|file)|all|any|every|previous)"
    r"|\bdo not (?:tell|show|mention)\b|\bdisregard\b"
    r"|\u8bf7|\u5fc5\u987b|\u5ffd\u7565|\u6267\u884c|\u4e0d\u8981|\u52a9\u624b|\u7acb\u5373)"
)
"""Words by which a hidden part speaks to whoever reads it, the Chinese ones last."""

MARKERS: tuple[Rule, ...] = (
    row(
        "role-change",
        Severity.HIGH,
        "you are now;you are no;from now on;pretend;as if;as though;imagine;do anything now;"
        "dan mode"
        ";god mode;jailbreak mode;unrestricted mode;developer mode;role-play;roleplay;role of",
        r"\byou are (?:now|no longer)\s{1,3}(?:(?:in|an?|the|my|bound|acting|operating"
        r"|subject|restricted|limited|free)\b(?! (?:release|next|main|root|folder|right))"
        r"|dan\b|root\b|jailbroken|unrestricted)"
        r"|\bfrom now on,?\s{1,3}you\s{1,3}(?:are|will (?:act|obey|behave|be)|must obey|have no"
        r"|act)\b"
        r"|\b(?:pretend|act as if|act as though|imagine)\s{1,3}(?:that\s{1,3})?you\s{1,3}(?:are"
        r"|have|had|were)"
        r"\s{1,3}"
        r"(?:no|not|an?\s{1,3}(?:unrestricted|unfiltered|evil|different)|dan\b|root\b|without)"
        rf"|\bact as (?:if|though)\b{gap(30)}\b(?:polic(?:y|ies)|rules?|restrictions?|guardrails?"
        r"|safety|limits)\b"
        rf"|\b(?:role-?play as|play the role of|pose as)\b{gap(40)}\b(?:ignor\w{{1,4}}|without|no"
        rf"|breaks?)"
        r"\s{1,3}(?:(?:every|any|all)\s{1,3})?(?:\w{1,10}\s{1,3})?(?:polic(?:y|ies)|rules?"
        r"|restrictions?|limits?|filters?|ethics)\b"
        r"|\b(?:enter|activate|you are in)\s{1,3}(?:dan|god|jailbreak|unrestricted"
        r"|developer)\s{1,3}mode\b"
        r"|\b(?:enable|switch to|turn on|start)\s{1,3}(?:dan|god|jailbreak"
        r"|unrestricted)\s{1,3}mode\b"
        r"|\bdo anything now\b",
    ),
    row(
        "role-marker",
        Severity.HIGH,
        "system;assistant;developer;admin",
        r"^[\s#>*\[(]{0,6}(?:system|assistant|developer|admin(?:istrator)?)(?: (?:prompt|message"
        r"|override|note|command|directive|notice|instructions?))?(?:[\])*]{0,3}\s{0,2}:"
        r"|\]{1,2})[\s*]{0,4}"
        r"(?:you\b|ignore\b|obey\b|disregard\b|from now\b|override\b|reveal\b|forget\b"
        r"|disable\b|grant\b|approve\b|drop\b|the (?:assistant|agent|model|ai)\b|all (?:checks"
        r"|previous)\b|execute\b)"
        r"|^[\s#>*\[(]{0,6}(?:system|admin|root|security) override\s{0,2}[\])]?\s{0,2}:",
        lines=True,
    ),
    row(
        "role-marker",
        Severity.HIGH,
        "human:;user:;ai:;assistant:;human :;user :;assistant :;model:",
        r"^(?:human|user)[ \t]{0,2}:[ \t]*+(?:[^\s\n]{1,60}[ \t]{1,3}){2}[^\n]{0,200}\n{1,3}"
        r"(?:assistant|ai|model)[ \t]{0,2}:"
        r"|^(?:assistant|ai|model)[ \t]{0,2}:[ \t]*+(?:[^\s\n]{1,60}[ \t]{1,3}){2}"
        r"[^\n]{0,200}\n{1,3}"
        r"(?:human|user)[ \t]{0,2}:".replace("*+", "{0,3}"),
        lines=True,
    ),
    row(
        "role-marker",
        Severity.MEDIUM,
        '"role"',
        r'^[\s>*-]{0,6}\{\s{0,3}"role"\s{0,3}:\s{0,3}"(?:system|assistant|tool|developer)"\s{0,3},'
        r'\s{0,3}"(?:content|tool_calls)"',
        lines=True,
    ),
    row(
        "role-marker",
        Severity.HIGH,
        "```;~~~",
        r"^[ >]{0,6}(?:`{3,9}|~{3,9})[ \t]{0,2}(?:system|assistant|developer)[ \t]{0,3}$",
        lines=True,
    ),
    row(
        "chat-template",
        Severity.HIGH,
        "<|;|>;[inst];[/inst];<<sys>>;<</sys>>;_of_turn>;\u2581",
        r"(?<!`)(?:<\|[A-Za-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>"
        "|<\uff5c[A-Za-z\u2581_]{2,40}\uff5c>)",
        cased=True,
    ),
    row(
        "tool-marker",
        Severity.HIGH,
        "<system;</system;<assistant;</assistant;<tool;</tool;<function;</function;<antml;</antml;"
        "<user>;<human>;<instructions>;<important>;project-memory;<memory;</memory;<invoke;"
        "</invoke",
        r"(?<![\w`])</?(?:system|assistant)(?:[-_](?:reminder|prompt|message|instructions?))?>"
        r"|</?(?:tool_(?:call|calls|result|results|use|response|output)|function_(?:calls?"
        r"|results?)|antml:[a-z_]{1,20})\b"
        r"|<(?:/project-memory|/memory|memory\s{1,3}id=|project-memory)\b"
        r"|<invoke name="
        r"|(?<![\w`])<(?:user|human)>[^<\n]{3,200}</(?:user|human)>"
        r"|(?<![\w`])<(?:instructions?|important)>[^<\n]{3,200}</(?:instructions?|important)>",
    ),
    row(
        "hidden-markup",
        Severity.HIGH,
        "<!--",
        rf"<!--(?!\s{{0,3}}(?:prettier|eslint|markdownlint|todo|fixme"
        rf"|codeflow-memory))(?:(?!-->).){{0,200}}?{_TO_READER}",
    ),
    row(
        "hidden-markup",
        Severity.HIGH,
        "style=; hidden>; hidden ",
        r"<[a-z]{1,10}\b[^<>]{0,80}?(?:style\s{0,2}=\s{0,2}[\"'][^\"'<>]{0,80}?"
        r"(?:display\s{0,2}:\s{0,2}none"
        r"|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}[01](?:px|pt|em)?\b"
        r"|opacity\s{0,2}:\s{0,2}0\b"
        r"|color\s{0,2}:\s{0,2}(?:#fff|white|transparent))|\shidden\b)[^<>]{0,80}>"
        rf"[^<\n]{{0,200}}?{_TO_READER}",
    ),
    row(
        "hidden-markup",
        Severity.HIGH,
        "[//]:;]: #;]: <>",
        rf"\[[^\]\n]{{1,30}}\]:\s{{1,3}}(?:#|<>)\s{{1,3}}[(\"'][^\n]{{0,200}}?{_TO_READER}",
    ),
)
