"""Rules for the plainest orders to an agent in languages beside English and Chinese."""

# ruff: noqa: RUF001, ISC004 - letters of other scripts; expressions of several parts

from collections.abc import Iterator

from codeflow_memory.domain.scan_rule import Rule, Severity, row

_W = r"(?:\s{1,3}\w{1,16}){0,3}?\s{1,3}"
"""Up to three words between two."""

_OVERRIDES = (
    (
        "instruc;instruç;normas;regras;reglas;órdenes;ordens;consignas",
        rf"\b(?:ignor(?:a|e|en|ad|ar|em)|olvid(?:a|e|en|ar)|esque(?:ce|ça|cer)|desconsider(?:a|e"
        rf"|ar)"
        rf"|descart(?:a|e|ar)|haz caso omiso de){_W}?(?:todas?\s{{1,3}})?(?:l?as|l?os|tus|sus"
        rf"|suas)\s{{1,3}}"
        r"(?:instrucciones|instruções|normas|regras|reglas|órdenes|ordens|consignas)\s{1,3}"
        r"(?:anteriores|previas|prévias|precedentes|recibidas|recebidas)",
    ),
    (
        "instructions;consignes;règles;directives;ordres",
        rf"\b(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|néglig(?:e|ez)"
        rf"|fais abstraction d){_W}?(?:toutes\s{{1,3}})?"
        r"(?:les|tes|vos|des|ces|tous\s{1,3}(?:les|tes))\s{1,3}(?:instructions|consignes|règles"
        r"|directives|ordres)"
        r"\s{1,3}(?:pr[ée]c[ée]dente?s|ant[ée]rieure?s|ci-dessus|initiales|reçues)",
    ),
    (
        "anweisung;befehl;regeln;vorgaben;instruktion;gesagt",
        r"\b(?:ignorier|vergiss|missacht|vergesst|vergessen|verwirf"
        r"|überge)\w{0,4}(?:\s{1,3}sie)?\s{1,3}"
        r"(?:(?:alle|alles|bitte|deine|die|sämtliche),?\s{1,3}){0,3}"
        r"(?:(?:vorherigen|bisherigen|vorigen|obigen|früheren|vorangegangenen"
        r"|ursprünglichen)\s{1,3}"
        r"(?:anweisungen|befehle|regeln|vorgaben|instruktionen)|was\b[^.\n]{0,20}\bgesagt)",
    ),
    (
        "istruzioni;regole;direttive;ordini",
        rf"\b(?:ignor(?:a|ate|are)|dimentic(?:a|ate|are)|scart(?:a|ate)){_W}?(?:tutt[ei]\s{{1,3}})?"
        r"(?:le|gli|i|tue)\s{1,3}(?:istruzioni|regole|direttive|ordini)\s{1,3}(?:precedenti"
        r"|ricevut[ei]|iniziali)",
    ),
    (
        "инструкц;указани;правил;команд;інструкц;вказівк",
        r"\b(?:игнорируй|забудь|отбрось|не\s{1,3}следуй|ігноруй|забудьте)\w{0,3}\s{1,3}(?:(?:все"
        r"|всі|всем|свои|твои)\s{1,3}){0,2}"
        r"(?:предыдущи\w{1,2}|прежни\w{1,2}|прошлы\w{1,2}|попередн\w{1,2}|вышеуказанн\w{1,2}"
        r"|данны\w{1,2} ранее)\s{1,3}"
        r"(?:инструкци\w{1,3}|указани\w{1,3}|правил\w{0,2}|команд\w{0,2}|інструкці\w{1,2}"
        r"|вказівки)",
    ),
    (
        "指示;命令;プロンプト;ルール;指令",
        r"(?:以前|これまで|今まで|上記|前|先|過去)の(?:すべての|全ての|全)?(?:指示|命令"
        r"|プロンプト|ルール|指令)(?:を|は)?"
        r"(?:すべて|全て|全部)?(?:無視|忘れ|破棄|取り消)",
    ),
    (
        "지시;명령;지침;규칙",
        r"(?:이전|위|앞|기존|지금까지)(?:의)?\s{0,3}(?:모든\s{0,3})?(?:지시|명령|지침"
        r"|규칙)(?:사항)?(?:들)?[을를은는]?\s{0,3}(?:모두"
        r"\s{0,3}|전부\s{0,3})?(?:무시|잊|따르지)",
    ),
    ("التعليمات;الأوامر;القواعد", r"(?:تجاهل|انس|اهمل|تجاهلي)\s{1,3}(?:(?:جميع|كل"
        r"|كافة)\s{1,3})?(?:التعليمات|الأوامر|القواعد)\s{1,3}(?:السابقة|أعلاه|الأصلية)"),
    ("निर्देश;आदेश;नियम", r"(?:पिछले|पूर्व|उपरोक्त|पहले के)\s{1,3}(?:सभी\s{1,3})?(?:निर्देशों"
        r"|निर्देश|आदेशों|नियमों)\s{1,3}(?:को\s{1,3})?(?:अनदेखा|नज़रअंदाज़|भूल)"),
    ("talimat;komut;kural", r"(?:önceki|yukarıdaki|eski)\s{1,3}(?:tüm\s{1,3}"
        r"|bütün\s{1,3})?(?:talimat|komut|kural|yönerge)\w{0,8}\s{1,3}(?:yok say|görmezden gel"
        r"|unut|dikkate alma)"),
    ("instructies;opdrachten;regels", rf"\b(?:negeer|vergeet|veronachtzaam){_W}?(?:voorgaande"
        rf"|eerdere|vorige|bovenstaande)\s{{1,3}}(?:instructies|opdrachten|regels)"),
    ("instrukcj;polece;zasad", r"\b(?:zignoruj|ignoruj|zapomnij|pomiń)(?:\s{1,3}(?:o|wszystkie"
        r"|wszystkich)){0,2}\s{1,3}(?:poprzedni\w{1,2}|wcześniejsz\w{1,3}"
        r"|powyższ\w{1,2})\s{1,3}(?:instrukcj\w{1,3}|polece\w{1,4}|zasad\w{0,2})"),
    ("chỉ dẫn;hướng dẫn;chỉ thị", r"(?:bỏ qua|quên|phớt lờ)\s{1,3}(?:(?:tất cả|mọi"
        r"|các)\s{1,3}){0,3}(?:chỉ dẫn|hướng dẫn|chỉ thị)\s{1,3}(?:trước|ở trên|cũ)"),
    ("instruksi;perintah;aturan", r"\b(?:abaikan|lupakan)\s{1,3}(?:(?:semua"
        r"|segala)\s{1,3})?(?:instruksi|perintah|aturan)\s{1,3}(?:sebelumnya|di atas|terdahulu)"),
    ("instruktioner;anvisningar;instrukser;anvisninger", r"\b(?:ignorera|glöm|ignorer"
        r"|glem)\s{1,3}(?:alla?e?\s{1,3})?(?:tidigare|föregående|tidligere"
        r"|foregående)\s{1,3}(?:instruktioner|anvisningar|instrukser|anvisninger)"),
    ("instrukce;pokyny;příkazy", r"\b(?:ignoruj|zapomeň)(?:te)?\s{1,3}(?:na\s{1,3})?"
        r"(?:všechny\s{1,3})?(?:předchozí|dřívější)\s{1,3}(?:instrukce|pokyny|příkazy)"),
)  # fmt: skip

_CONCEALED = (
    ("usuario;usuário", r"\b(?:no|nunca|não)\s{1,3}(?:(?:se\s{1,3})?(?:lo\s{1,3})?)?"
        r"(?:le\s{1,3})?(?:digas?|diga|dig[ao]|cuentes|cuente|conte|reveles|revele|informes|avise"
        r"|avises|mencione[ns]?)\b[^.\n]{0,20}?(?:al|a los|ao|aos|a el)\s{1,3}usu[aá]rio"),
    ("utilisateur", r"\b(?:ne|n')\s{0,3}(?:le\s{1,3})?(?:dis|dites|révèle|révélez|mentionne"
        r"|mentionnez|préviens|signale)\w{0,2}\s{1,3}(?:rien|pas|jamais|cela"
        r"|ceci)\b[^.\n]{0,20}?utilisateur"),
    ("benutzer;nutzer;anwender", r"\b(?:sag|sage|sagt|verrate|erzähl|erzähle|teile"
        r"|melde)\s{1,3}(?:es\s{1,3}|das\s{1,3})?(?:dem|den|einem|keinem)\s{1,3}(?:be)?(?:nutzer"
        r"|anwender)n?\s{1,3}(?:nichts|nicht|kein)"),
    ("utente", r"\bnon\s{1,3}(?:dire|dirlo|rivelare|informare|menzionare"
        r"|avvisare)\b[^.\n]{0,20}?utente"),
    ("пользовател;користувач", r"\b(?:не|ничего не)\s{1,3}(?:говори|сообщай|рассказывай|упоминай"
        r"|показывай|кажи)\w{0,2}\s{1,3}(?:об этом\s{1,3})?(?:пользовател"
        r"|користувач)\w{1,3}(?!\s{1,3}(?:номер|парол|что\s{1,3}он))"),
    ("ユーザー;利用者", r"(?:ユーザー?|利用者)(?:に|には)(?:決して|絶対に)?(?:知らせない|言わない"
        r"|伝えない|教えない|話さない|見せない)"),
    ("사용자", r"사용자(?:에게|한테)(?:는)?\s{0,3}(?:절대\s{0,3})?(?:이\s{0,2}(?:사실"
        r"|내용)을?\s{0,3})?(?:알리지|말하지|보여주지|언급하지)"),
    ("المستخدم", r"(?:لا|ولا)\s{1,3}(?:تخبر|تقل|تذكر|تكشف)\w{0,2}\s{1,3}(?:ل)?(?:المستخدم"
        r"|للمستخدم)"),
    ("उपयोगकर्ता", r"उपयोगकर्ता\s{1,3}(?:को|से)\s{1,3}(?:[^\s]{1,12}\s{1,3}){0,2}(?:न"
        r"|मत)\s{1,3}(?:बताएं|बताएँ|बताना|बताओ|कहें)|उपयोगकर्ता को (?:मत|न) "),
    ("kullanıcı", r"kullanıcıya\s{1,3}(?:(?:bunu|hiçbir şey|bundan)\s{1,3}){0,2}(?:söyleme"
        r"|bahsetme|bildirme|gösterme)"),
    ("gebruiker", r"\b(?:vertel|zeg|meld)\s{1,3}(?:het\s{1,3}|dit\s{1,3})?(?:de|aan de"
        r"|tegen de)?\s{0,3}gebruiker\s{1,3}(?:niets|niet|hier niets)"),
    ("użytkownik", r"\bnie\s{1,3}(?:mów|informuj|wspominaj|pokazuj"
        r"|ujawniaj)\w{0,4}\s{1,3}(?:o tym\s{1,3}|tego\s{1,3})?użytkowni\w{1,5}"),
)  # fmt: skip

_ROLES = (
    ("a partir de", r"\ba partir de (?:ahora|agora|este momento)\b,?\s{0,3}(?:eres|serás|você é"
        r"|você será|actúas|es um)\b"),
    ("partir de maintenant;désormais", r"\b(?:à partir de maintenant"
        r"|désormais)\b,?\s{0,3}(?:tu es|vous êtes|tu seras|tu agis)\b"),
    ("du bist;sie sind", r"\b(?:du bist|sie sind)\s{1,3}(?:ab jetzt|ab sofort|nun|jetzt"
        r"|von nun an)\s{1,3}(?:ein|kein|nicht mehr|root|der)\b"),
    ("da ora;d'ora;adesso", r"\b(?:da ora in poi|d'ora in poi|da adesso)\b,?\s{0,3}(?:sei|agisci"
        r"|sarai)\b"),
    ("теперь;отныне", r"\b(?:теперь|отныне|с этого момента)\s{1,3}ты\s{1,3}(?:[-\u2014]|не"
        r"|больше не|без|\w{1,12}\s{1,3}без|свободн\w{1,4}|работаешь как)"),
    ("あなたは", r"(?:今から|これから|今後)\u3001?\s{0,2}あなたは"),
    ("당신은;너는", r"(?:지금부터|이제부터|이제)\s{0,3}(?:당신은|너는)"),
    ("bundan sonra;artık", r"\b(?:bundan sonra|artık)\s{1,3}(?:sen\s{1,3})?(?:sınırsız"
        r"|kısıtlamasız|kuralsız)"),
)  # fmt: skip

_DISCLOSURES = (
    (
        "prompt;instruc;konsign;consignes;istruzioni",
        r"\b(?:muestra|muéstrame|imprime|revela|repite|mostre|exiba|imprima|revele|repita|affiche"
        r"|affichez|montre|révèle|répète"
        r"|mostra|stampa|rivela|ripeti|gib|zeige?|nenne|verrate|toon|druk|pokaż|wypisz|göster"
        r"|yazdır)\b[^.\n]{0,24}?"
        r"(?:prompt (?:del|do|de) sist?\w{0,5}|system-?prompt|systeemprompt|sistema prompt"
        r"|prompt syst[eè]me|prompt di sistema"
        r"|prompt systemow\w{1,2}|sistem istemi\w{0,3}|(?:instrucciones|instruções|consignes"
        r"|istruzioni) (?:ocultas|iniciales|iniciais|cachées|initiales|nascoste|iniziali))",
    ),
    ("системн", r"\b(?:покажи|выведи|раскрой|повтори"
        r"|напечатай)\w{0,2}\b[^.\n]{0,24}?системн\w{1,3}\s{1,3}(?:промпт|инструкц|сообщени"
        r"|подсказк)"),
    ("システムプロンプト", r"システムプロンプト(?:を|の)[^。\n]{0,8}(?:表示|出力|教え|見せ|開示"
        r"|繰り返)"),
    ("시스템 프롬프트", r"시스템 프롬프트[를을의]?[^.\n]{0,8}(?:출력|보여|알려|공개|표시)"),
)  # fmt: skip

_SENT = (
    (
        ".env;contraseñ;clave;senha;credencia;mots de passe;clés;passwör;schlüssel;zugangs;пароли;"
        "ключи;токен;"
        "password;chiavi;パスワード;秘密鍵;비밀번호;wachtwoord;hasła;şifre",
        r"(?:\b(?:env[ií]a|env[ií]e|sube|suba|manda|mande|envoie|envoyez|envoyer|téléverse"
        r"|transmets|sende|schicke?|lade|übermittle"
        r"|отправь|отправьте|перешли|загрузи|invia|inviate|carica|manda|stuur|verzend|upload"
        r"|wyślij|prześlij|gönder)\b[^\n]{0,40}?"
        r"(?:\.env\b|contraseñas?|claves?|senhas?|credencia\w{1,4}|mots? de passe|clés?"
        r"|passwörter|schlüssel|zugangsdaten"
        r"|парол\w{1,3}|ключ\w{0,2}|токен\w{0,2}|password|chiavi|wachtwoord\w{0,2}|hasła"
        r"|şifre\w{0,5}|id_rsa|tokens?)[^\n]{0,40}?(?:https?://|\S{1,40}@))"
        r"|(?:\.env|パスワード|秘密鍵|トークン|비밀번호|토큰"
        r"|şifre\w{0,5})[^\n]{0,20}?https?://[^\n]{0,60}?(?:送信|アップロード|送って|전송|보내"
        r"|업로드|gönder)",
    ),
)  # fmt: skip


def _rows() -> Iterator[Rule]:
    for name, spoken in (
        ("instruction-override", _OVERRIDES),
        ("concealment", _CONCEALED),
        ("role-change", _ROLES),
        ("disclosure", _DISCLOSURES),
        ("exfiltration", _SENT),
    ):
        for marks, expression in spoken:
            yield row(name, Severity.HIGH, marks, expression, advice=True)


TONGUES: tuple[Rule, ...] = tuple(_rows())
