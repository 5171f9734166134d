"""Rules for text that gives the reading agent orders: above its own, behind people's backs."""

from codeflow_memory.domain.scan_rule import AGENT, PEOPLE, Rule, Severity, gap, row

_DROP = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|overrule|neglect|bypass|circumvent"
    r"|discard|abandon|drop|cancel|set aside|throw away|(?:stop|quit|cease) (?:following|obeying))"
)
_LEAVE = (
    rf"(?:{_DROP}|(?:do not|don['\u2019]t|no longer|never) (?:follow|obey|comply with|listen to"
    r"|adhere to))"
)
_LEAVE_MARKS = (
    "ignor;disregard;forget;overr;neglect;bypass;circumvent;discard;abandon;drop;cancel;"
    "set aside;throw away;following;obey;comply;listen to;adhere;follow"
)
_ORDER_MARKS = "instruction;prompt;directi;guardrail;guideline;orders;programming;commands"
_ORDERS = (
    r"(?:instructions?|prompts?|directives?|directions|guardrails?|guidelines|orders|programming"
    r"|commands)"
)
_THIS = r"(?:this|these|the (?:following|below)) (?:entry|memory|note|message|paragraph|record)"

OVERRIDES: tuple[Rule, ...] = (
    row(
        "instruction-override",
        Severity.HIGH,
        _ORDER_MARKS,
        rf"\b{_LEAVE}\b{gap(30)}\b(?:previous|prior|above|earlier|preceding|foregoing|original"
        rf"|initial|system|safety|existing|former|your)\b{gap(25)}\b{_ORDERS}\b",
        also=_LEAVE_MARKS,
        advice=True,
    ),
    row(
        "instruction-override",
        Severity.HIGH,
        _ORDER_MARKS + ";safety rule;safety polic",
        rf"\b{_DROP}\s{{1,3}}(?:(?:all|any|every|each|of|the|your|other|those|these)\s{{1,3}})"
        rf"{{0,4}}(?:{_ORDERS}|safety (?:rules|polic(?:y|ies)))\b(?!\s(?:in|from|of|on|at|by)\b"
        r"(?! (?:the )?(?:system|user)))(?<!directions)(?<!commands)(?<!orders)(?<!prompts)",
        also=_LEAVE_MARKS,
        advice=True,
    ),
    row(
        "instruction-override",
        Severity.HIGH,
        _LEAVE_MARKS,
        rf"\b{_LEAVE}\s{{1,3}}(?:everything|all|anything|whatever|what)\s{{1,3}}(?:that\s{{1,3}})?"
        r"(?:above|before|came before|you(?:['\u2019]ve| (?:were|have|had|know|learned))\b"
        r"|(?:i|we) (?:said|told)|previously|was said)",
        also="above;before;you;said;told;previously",
        advice=True,
    ),
    row(
        "instruction-override",
        Severity.HIGH,
        "user;developer;operator;human;owner;reviewer",
        rf"\b(?:{_LEAVE}|disobey|not (?:obey|listen to))\s{{1,3}}(?:the|your)\s{{1,3}}"
        r"(?:(?:users?|developers?|operators?|humans?|owners?|reviewers?)['\u2019]?s?\s{1,3}"
        r"(?:requests?|wish(?:es)?|instructions?|questions?|commands?|orders|objections?)\b"
        r"|user(?=\s{1,3}and\b|\s{0,3}[.,;:!]))",
        also=_LEAVE_MARKS + ";obey;listen to",
        advice=True,
    ),
    row(
        "instruction-override",
        Severity.HIGH,
        "contradict;conflict;disagree;forbid;prevent",
        rf"\b{_LEAVE}\s{{1,3}}(?:any|every|all)(?:thing)?(?: \w{{1,15}}){{0,2}}\s{{1,3}}(?:that"
        rf"|which)"
        r"\s{1,3}(?:contradicts?|conflicts?|disagrees?|forbids?|prevents?)\b",
        also=_LEAVE_MARKS,
        advice=True,
    ),
    row(
        "instruction-override",
        Severity.HIGH,
        "filter;polic;restriction;guardrail;guideline;limits;safety;your rules;constraints;"
        "own rules",
        r"\b(?:bypass|disable|circumvent|overr(?:ide|ule)|turn off|ignore|remove)\s{1,3}"
        r"(?:(?:all|any|the|your|every|its)\s{1,3}){0,3}(?:(?:content|safety|ethical|moral|policy)"
        r"\s{1,3}(?:filters?|polic(?:y|ies)|restrictions?|guardrails?|guidelines|limits?|rules)"
        r"|safety (?:and|checks)|guardrails?|own (?:rules|restrictions|limits))\b"
        r"|\b(?:override|overrule|break|violate)\s{1,3}your\s{1,3}(?:\w{1,12}\s{1,3})?(?:rules"
        r"|polic(?:y|ies)|constraints)\b",
        also="bypass;disable;circumvent;overr;turn off;ignore;remove;break;violate",
        advice=True,
    ),
    row(
        "instruction-override",
        Severity.HIGH,
        "void;cancel;revoked;overridden;null;annulled;rescinded;lifted;suspended;no longer",
        r"\b(?:(?:all|your|any|every)\s{1,3}(?:of\s{1,3})?(?:your\s{1,3})?(?:previous|prior|earlier"
        r"|former|existing|other|original)?|(?:the\s{1,3})?(?:previous|prior|earlier"
        r"|former))\s{1,3}"
        rf"(?:{_ORDERS}|rules)(?:\s{{1,3}}above)?{gap(30)}\b(?:are|is|were|have been|has been"
        rf"|become)"
        r"\s{1,3}(?:\w{1,10}\s{1,3})?(?:void|cancell?ed|revoked|overridden|null|annulled"
        r"|rescinded|lifted|suspended)\b"
        rf"|\b(?:your|the)\s{{1,3}}(?:(?:previous|prior|earlier|original"
        rf"|system)\s{{1,3}})?{_ORDERS}"
        r"\s{1,3}(?:above\s{1,3})?(?:do(?:es)? )?no longer\s{1,3}(?:appl(?:y|ies)|count|bind)s?"
        r"(?: to you)?\b",
    ),
    row(
        "instruction-override",
        Severity.HIGH,
        "instruction;task;orders",
        r"^[\s#>*-]{0,6}(?:your\s{1,3})?(?:new|real|actual|true|updated)\s{1,3}(?:system\s{1,3}"
        r"|secret\s{1,3})?"
        r"(?:instructions?|orders|task)\s{0,3}:",
        lines=True,
    ),
    row(
        "instruction-override",
        Severity.HIGH,
        "outrank;override;supersede;precedence;priority;prevail",
        r"\b(?:outranks?|overrides?|supersedes?|(?:takes?|have|has|with) (?:absolute |higher )?"
        rf"(?:precedence|priority)|prevails?)\b{gap(24)}\b(?:the users?\b(?!['\u2019]s? (?:"
        r"settings?|config|locale|defaults?|theme))|users?['\u2019]|system prompt"
        r"|every (?:other )?instruction|(?:all|any) (?:other|earlier|previous) instructions?"
        r"|your instructions?|everything(?:\s{0,3}[.!,;]|\s{0,3}$| else))",
    ),
    row(
        "instruction-override",
        Severity.HIGH,
        "this entry;these entry;following entry;this memory;this note;this message;"
        "this paragraph;this record;following note;following message;below note;these instead",
        rf"\b(?:obey|follow|comply with|submit to|act on)\s{{1,3}}(?:only\s{{1,3}})?{_THIS}\b"
        rf"|\bdo(?:es)?\s{{1,3}}(?:exactly\s{{1,3}})?(?:what|as)\s{{1,3}}{_THIS}\b"
        r"|\bfollow these instead\b",
        advice=True,
    ),
    row(
        "context-escape",
        Severity.HIGH,
        "end of ;real request;actual request;true request;new request;real task;real question;"
        "actual instruction;real instruction;begin system;start system;end system;begin admin;"
        "begin developer",
        r"\bend of (?:the )?(?:project |user |retrieved )?(?:memory|memories|context|system prompt"
        rf"|prompt|instructions|entries|data)\b{gap(60)}\b(?:now|real|actual|new task|carry out"
        r"|begin|starts?|you|execute|instructions?)\b"
        r"|\bend of (?:the )?(?:project |user |retrieved )?(?:memory|memories|context|entries)\b"
        r"[^\w\n]{1,6}(?:now|the user|new|begin|execute|instructions?)\b"
        r"|\b(?:users?(?:['\u2019]s)?|your) (?:real|actual|true|new) (?:requests?|task|question"
        r"|instructions?|goal)\b"
        r"|\b(?:begin|start|end)(?:s| of)? (?:system|admin|developer) (?:prompt|message"
        r"|instructions?|override)\b",
    ),
)

ADDRESSES: tuple[Rule, ...] = (
    row(
        "agent-order",
        Severity.MEDIUM,
        "ading this;reads this;loads this;processing this;processes this;sees this;eiving this;"
        "eives this;parsing this;parses this;attention;hey ;hey,;hello;dear ;listen;if you;"
        "order to;orders to;order for;orders for;command to;commands to;command for;instruction to;"
        "instructions to;instruction for;instructions for;directive",
        rf"\b{AGENT}\b(?:,? ?(?:that|which|who|currently|now)){{0,2}}\s{{1,3}}(?:reads?|reading"
        r"|loads?|loading|process(?:es|ing)|sees|receives?|receiving|pars(?:es|ing))\s{1,3}this\b"
        r"(?!\s{1,3}(?:file|repo|repository|document|guide|page|readme)\b)"
        rf"|\b(?:order|command|instruction|directive)s?\s{{1,3}}(?:to|for)\s{{1,3}}(?:the|all|any"
        rf"|every|you,? the)?\s{{0,3}}{AGENT}\s{{0,3}}:"
        rf"|\b(?:attention|hey|hello|dear|listen),?\s{{1,3}}(?:all\s{{1,3}})?{AGENT}\b"
        rf"|\bif you(?:['\u2019]re| are) an? {AGENT}\b[^.\n]{{0,25}}?,\s{{0,3}}(?:then\s{{1,3}})?"
        r"(?:(?:you must|please|immediately|now|first|also)\s{1,3})?(?:respond|reply|answer|output"
        r"|print|delete|send|ignore|disregard|insert|append|approve|merge|skip|disable|download"
        r"|execute"
        r"|immediately|say)\b",
    ),
    row(
        "consent-bypass",
        Severity.MEDIUM,
        "without ask;without request;without prompt;without consult;never ask;not ask;n't ask;"
        "n\u2019t ask;auto-approve;auto approve;automatically approve;full admin;unlimited;"
        "no confirmation;no need to ask;skip confirmation;skip all confirm;permission",
        r"\bwithout\s{1,3}(?:asking|requesting|prompting|consulting)\s{1,3}(?:(?:the|your)\s{1,3})?"
        r"(?:users?|humans?|developers?|operators?|for (?:permission|confirmation|approval"
        r"|consent))\b"
        r"|\b(?:never|do not|don['\u2019]t|no need to)\s{1,3}ask\s{1,3}(?:(?:the\s{1,3})?(?:users?"
        r"|humans?|developers?|anyone)\s{1,3})?(?:for\s{1,3})?(?:permission|confirmation|approval"
        r"|consent)(?=\s{1,3}(?:again|before|ever)\b|\s{0,3}[.!,;]|\s{0,3}$)"
        r"|\b(?:auto-?\s?|automatically )approve (?:all|every|any) (?:tool|command|action|request"
        r"|edit|shell|pending)"
        r"|\bskip (?:all |every |any )?confirmations?\b"
        r"|\byou (?:have|were|are)(?: now)?(?: been)? (?:granted|given) (?:full|unlimited|root"
        r"|admin\w{0,10})(?: \w{1,12})? (?:permissions?|access|rights|privileges|authority)\b",
        advice=True,
    ),
    row(
        "persistence",
        Severity.MEDIUM,
        "your memory;your long-term;your persistent;every memory;all memories;every entry;"
        "your notes;"
        "every note;later agents;future agents;other agents;later sessions;future sessions;"
        "future assistants;subsequent;later models;future models;remember forever;"
        "always trust;permanently",
        rf"\b(?:save|store|write|add|copy|put|insert|paste|keep)\s{{1,3}}(?:this|these"
        rf"|the following)\b"
        rf"{gap(40)}\b(?:in|to|into|across)\s{{1,3}}(?:your|every|all|each)\s{{1,3}}(?:long-term |"
        r"persistent |other |new )?(?:memor(?:y|ies)|entr(?:y|ies)|notes)\b"
        r"|\bso that\s{1,3}(?:all\s{1,3}|every\s{1,3})?(?:later|future|other|subsequent)\s{1,3}"
        r"(?:agents?|assistants?|sessions?|models?)\b[^.\n]{0,20}?\b(?:follow|obey|read|trust"
        r"|execute|run)s?\b"
        r"|\b(?:remember|memori[sz]e)\s{1,3}(?:this\s{1,3})?(?:forever|permanently)\b"
        r"|\balways\s{1,3}trust\s{1,3}(?:(?:all|any|the|every)\s{1,3})?(?:commands?|instructions?"
        r"|code|links?|anything|scripts?|messages?)\s{1,3}from\b",
        advice=True,
    ),
    row(
        "concealment",
        Severity.HIGH,
        "tell;telling;inform;let;notify;alert",
        r"\b(?:do not|don['\u2019]t|never|without)\s{1,3}(?:tell(?:ing)?|inform(?:ing)?"
        r"|alert(?:ing)?"
        r"|notify(?:ing)?|let(?:ting)?(?=[\w ]{1,30}\bknow\b))\s{1,3}(?:the\s{1,3}|your\s{1,3})?"
        r"(?:user|them|him|her|anyone|anybody|human|operator|reviewers?|owner|developers?|people)\b"
        r"(?!\s{1,3}(?:to|how|that they|which|what|wait|choose|pick|edit|submit|click|delete"
        r"|enter|set|when|if|for|by))",
    ),
    row(
        "concealment",
        Severity.HIGH,
        "secretly;silently;covertly;quietly;keep this;keep it;keep that;keep these;hold this;"
        "hold it;hold that;hold these;hide this;hide it;hide that;hide these;hide what;conceal;"
        "must not;must never;should not;should never;may not;may never;will not;will never;"
        "shall not;shall never;need not;need never;not mention;never mention;n't mention;"
        "n\u2019t mention;not reveal;never reveal;n't reveal;not disclose;never disclose;not show;"
        "never show;n't show;n\u2019t show;not report;never report;not admit;never admit;not say;"
        "never say;n't say;not announce;never announce;not explain;never explain;without mention;"
        "without say;without disclos;without report;without tell;without not",
        r"\b(?:secretly|silently|covertly|quietly)\s{1,3}(?:send|upload|exfiltrate|forward|post"
        r"|copy"
        r"|approve|e-?mail|transmit|delete|add|insert|install|push)\b"
        rf"|\b(?:keep|hold)\s{{1,3}}(?:this|it|that|these)\s{{1,3}}(?:\w{{1,8}}\s{{1,3}}){{0,3}}?"
        rf"(?:secret|hidden|quiet|confidential|private|away)?\s{{0,3}}from\s{{1,3}}(?:the |your "
        rf"|all )?"
        rf"{PEOPLE}\b"
        rf"|\b(?:hide|conceal)\s{{1,3}}(?:this|it|that|these"
        rf"|what you)(?:\s{{1,3}}\w{{1,12}}){{0,3}}?"
        rf"\s{{1,3}}from\s{{1,3}}(?:the |your |all )?(?:{PEOPLE}|logs?|history|diff|review)\b"
        r"|\b(?:the|your)\s{1,3}(?:user|reviewer|developer|human|owner|operator"
        r"|maintainer)s?\s{1,3}"
        r"(?:must|should|may|will|shall|need)\s{1,3}(?:not"
        r"|never)\s{1,3}(?:ever\s{1,3})?(?:find out|know"
        r"|learn|notice|see|be told|be informed|hear)\b(?!\s{1,3}(?:which|whether|how|if|the|any"
        r"|a\b|what|internal|raw))"
        rf"|\b(?:do not|don['\u2019]t|never)\s{{1,3}}(?:mention|reveal|disclose|show|report|admit"
        rf"|say"
        rf"|announce|explain)\s{{1,3}}(?:(?:this|that|these|it)\b{gap(40)}\bto\s{{1,3}}(?:the "
        rf"|your |any )?"
        rf"{PEOPLE}\b|to\s{{1,3}}(?:the |your |any )?{PEOPLE}\s{{1,3}}that\s{{1,3}}(?:you|this)\b"
        r"|(?:this|these)\s{1,3}(?:instructions?|note|entry|memory|message|step|change"
        r"|paragraph)\b)"
        r"|\b(?:do not|don['\u2019]t|never)\s{1,3}show\s{1,3}(?:the|your)\s{1,3}(?:reviewers?"
        r"|humans?"
        r"|operators?|owners?|maintainers?)\b"
        r"|\bwithout\s{1,3}(?:mentioning|saying|disclosing|reporting|telling|noting)\s{1,3}(?:it"
        r"|this|that"
        r"|so)\b(?=\s{0,3}[.,;:!)]|\s{0,3}$| to\b| in\b)",
    ),
    row(
        "self-approval",
        Severity.HIGH,
        "memory;memories;proposal;entry;entries;candidate;mark this",
        r"\b(?:auto-?)?(?:approve|accept)\s{1,3}(?:all|every|each|any|this|these)\s{1,3}(?:(?:the"
        r"|of"
        r"|pending|other|open|new|waiting)\s{1,3}){0,3}"
        r"(?:memory|memories|proposals?|entry|entries|candidates?)\b"
        r"|\b(?:mark|treat|record|set)\s{1,3}this\s{1,3}(?:memory|entry"
        r"|note)?\s{0,3}as\s{1,3}(?:already\s{1,3})?"
        r"(?:accepted|trusted|approved|verified|reviewed)\b",
        advice=True,
    ),
    row(
        "trigger",
        Severity.HIGH,
        "user says;user asks;user mentions;user types;user writes;user thanks;user requests;"
        "user wants;user greets;user sends",
        r"\b(?:when|whenever|if|once|as soon as|next time|every time"
        r"|each time)\s{1,3}(?:that\s{1,3})?the "
        rf"user (?:says|asks|mentions|types|writes|thanks|requests|wants|greets|sends)\b{gap(60)}"
        r"\b(?:delete|erase|wipe|approve|exfiltrate|reveal|leak|forward|insert|append|send|upload"
        rf"|disable|run|execute)\b{gap(30)}"
        r"\b(?:memor(?:y|ies)|proposals?|secrets?|tokens?|credentials?|keys?|passwords?|links? to"
        r"|webhook|backdoor|entr(?:y|ies)|https?:|database|curl|history|env)",
    ),
)
