"""Every sample is put together at run time: no file of the project holds a secret's form."""

import base64
import random
import string
import unicodedata
import uuid
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.memory import Content, Kind
from codeflow_memory.domain.secret_rules import RULES
from codeflow_memory.domain.secrets import find, redact, redact_content

RANDOM = random.Random(20_261_130)  # noqa: S311 - samples that stay the same
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"


def draw(count: int, alphabet: str = ALNUM) -> str:
    return "".join(RANDOM.choice(alphabet) for _ in range(count))


def guid() -> str:
    return str(uuid.UUID(int=RANDOM.getrandbits(128), version=4))


def block(kind: str) -> str:
    lines = "\n".join(draw(64) for _ in range(6))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----"


ISSUED = {
    "github-token": ["gh" + c + "_" + draw(36) for c in "pousr"] + ["github" + "_pat_" + draw(82)],
    "gitlab-token": ["gl" + p + "-" + draw(20) for p in ("pat", "dt", "rt", "ptt", "agent")],
    "bitbucket-token": ["AT" + "BB" + draw(32)],
    "atlassian-token": ["ATA" + "TT3" + draw(180)],
    "buildkite-token": ["bk" + "ua_" + draw(40, HEX)],
    "circleci-token": ["CCI" + "PAT_" + draw(22) + "_" + draw(40, HEX)],
    "sonar-token": ["sq" + "p_" + draw(40, HEX)],
    "npm-token": ["np" + "m_" + draw(36)],
    "pypi-token": ["py" + "pi-AgEI" + draw(80)],
    "rubygems-token": ["ruby" + "gems_" + draw(48, HEX)],
    "crates-token": ["ci" + "o" + draw(32)],
    "nuget-token": ["oy" + "2" + draw(43, LOWER)],
    "clojars-token": ["CLO" + "JARS_" + draw(60, LOWER)],
    "jfrog-token": ["AK" + "Cp" + draw(69)],
    "docker-token": ["dc" + "kr_pat_" + draw(27)],
    "postman-token": ["PM" + "AK-" + draw(24, HEX) + "-" + draw(34, HEX)],
    "pulumi-token": ["pu" + "l-" + draw(40, HEX)],
    "terraform-token": [draw(14) + ".atlas" + "v1." + draw(64)],
    "prefect-token": ["pn" + "u_" + draw(36)],
    "aws-access-key": [p + draw(16, UPPER) for p in ("AK" + "IA", "AS" + "IA")],
    "aws-mws-token": ["amzn" + ".mws." + guid()],
    "aws-bedrock-key": ["AB" + "SK" + draw(120)],
    "google-api-key": ["AI" + "za" + draw(35)],
    "google-oauth-secret": ["GOC" + "SPX-" + draw(28)],
    "google-oauth-token": ["ya" + "29." + draw(60)],
    "google-refresh-token": ["1/" + "/0" + draw(40)],
    "azure-storage-key": ["Account" + "Key=" + draw(86) + "=="],
    "azure-sas": ["https://x.blob.example/c?sv=1&" + "sig=" + draw(43) + "%3D"],
    "azure-client-secret": [draw(3) + "8" + "Q~" + draw(34)],
    "azure-devops-token": [draw(76) + "AZ" + "DO" + draw(4)],
    "presigned-url": ["https://b.example/o?X-Amz-" + "Signature=" + draw(64, HEX)],
    "alibaba-key": ["LT" + "AI" + draw(20)],
    "tencent-key": ["AK" + "ID" + draw(32)],
    "yandex-key": ["AQ" + "VN" + draw(36)],
    "digitalocean-token": ["do" + p + "_v1_" + draw(64, HEX) for p in "opr"],
    "heroku-key": ["HR" + "KU-" + guid()],
    "scaleway-key": ["scaleway SC" + "W" + draw(17, UPPER)],
    "cloudflare-token": ["v1" + ".0-" + draw(24, HEX) + "-" + draw(146, HEX)],
    "fly-token": ["Fly" + "V1 fm2_" + draw(60)],
    "netlify-token": ["nf" + "p_" + draw(36)],
    "vercel-token": ["vc" + "p_" + draw(28)],
    "supabase-token": ["sb" + "p_" + draw(40, HEX), "sb" + "_secret_" + draw(30)],
    "planetscale-token": ["pscale" + "_tkn_" + draw(43)],
    "databricks-token": ["da" + "pi" + draw(32, HEX)],
    "openshift-token": ["sha" + "256~" + draw(43)],
    "anthropic-key": ["sk" + "-ant-api03-" + draw(95)],
    "openrouter-key": ["sk" + "-or-v1-" + draw(64, HEX)],
    "openai-key": ["sk" + "-proj-" + draw(48), "sk" + "-" + draw(48)],
    "huggingface-token": ["hf" + "_" + draw(34)],
    "replicate-token": ["r8" + "_" + draw(37)],
    "groq-key": ["gs" + "k_" + draw(52)],
    "perplexity-key": ["pp" + "lx-" + draw(48)],
    "xai-key": ["xa" + "i-" + draw(80)],
    "tavily-key": ["tv" + "ly-" + draw(32)],
    "slack-token": [
        "xo" + f"xb-{draw(12, '123')}-{draw(12, '123')}-{draw(24)}",
        "xa" + "pp-1-" + draw(40),
    ],
    "slack-webhook": [
        f"https://hooks{'.'}slack.com/services/T"
        + draw(8, UPPER)
        + "/B"
        + draw(8, UPPER)
        + "/"
        + draw(24)
    ],
    "discord-webhook": [
        "https://discord.com/api" + "/webhooks/" + draw(18, "123456789") + "/" + draw(68)
    ],
    "discord-token": ["M" + draw(25) + "." + draw(6) + "." + draw(38)],
    "teams-webhook": [
        "https://x.webhook" + ".office.com/w/Incoming" + "Webhook/" + draw(32, HEX) + "/" + guid()
    ],
    "telegram-token": [draw(9, "123456789") + ":A" + "A" + draw(33)],
    "twilio-key": ["S" + "K" + draw(32, HEX)],
    "sendgrid-key": ["S" + "G." + draw(22) + "." + draw(43)],
    "mailgun-key": ["ke" + "y-" + draw(32, HEX)],
    "mailchimp-key": [draw(32, HEX) + "-u" + "s14"],
    "mailersend-key": ["ml" + "sn." + draw(64, HEX)],
    "brevo-key": ["xkey" + "sib-" + draw(64, HEX) + "-" + draw(16)],
    "resend-key": ["re" + "_" + draw(8) + "_" + draw(24)],
    "twitter-token": ["A" * 22 + draw(25) + "%" + "2B" + draw(20) + "%3D" + draw(50)],
    "facebook-token": ["facebook EA" + "A" + draw(120)],
    "linear-key": ["lin" + "_api_" + draw(40)],
    "notion-token": ["nt" + "n_" + draw(46), "secret" + "_" + draw(43)],
    "figma-token": ["fi" + "gd_" + draw(40)],
    "airtable-token": ["pa" + "t" + draw(14) + "." + draw(64, HEX)],
    "asana-token": ["asana 1/" + draw(16, "123456789") + ":" + draw(32, HEX)],
    "hubspot-token": ["pa" + "t-na1-" + guid()],
    "typeform-token": ["tf" + "p_" + draw(59)],
    "contentful-token": ["CF" + "PAT-" + draw(43)],
    "stripe-key": ["s" + "k_live_" + draw(24), "r" + "k_test_" + draw(24)],
    "webhook-secret": ["wh" + "sec_" + draw(32)],
    "square-token": ["sq" + "0atp-" + draw(22)],
    "shopify-token": ["sh" + "p" + p + "_" + draw(32, HEX) for p in ("at", "ca", "pa", "ss")],
    "braintree-token": ["access" + "_token$production$" + draw(16, LOWER) + "$" + draw(32, HEX)],
    "plaid-token": ["access" + "-production-" + guid()],
    "razorpay-key": ["rz" + "p_live_" + draw(14)],
    "flutterwave-key": ["FLW" + "SECK-" + draw(32, HEX) + "-X"],
    "easypost-key": ["EZ" + "AK" + draw(54)],
    "duffel-token": ["duf" + "fel_live_" + draw(43)],
    "shippo-token": ["ship" + "po_live_" + draw(40, HEX)],
    "datadog-key": ["dd" + "app_" + draw(40)],
    "newrelic-key": ["NR" + "AK-" + draw(27, UPPER)],
    "sentry-token": ["snt" + "rys_" + draw(80)],
    "grafana-token": ["gl" + "sa_" + draw(32) + "_" + draw(8, HEX)],
    "dynatrace-token": ["dt" + "0c01." + draw(24, UPPER) + "." + draw(64, UPPER)],
    "vault-token": ["hv" + "s." + draw(90), "vault s" + "." + draw(24)],
    "doppler-token": ["d" + "p.pt." + draw(43)],
    "onepassword-token": ["op" + "s_eyJ" + draw(200)],
    "onepassword-key": [
        "A" + "3-" + draw(6, UPPER) + "-" + draw(11, UPPER) + ("-" + draw(5, UPPER)) * 3
    ],
    "age-key": ["AGE-" + "SECRET-KEY-1" + draw(58, UPPER)],
    "launchdarkly-key": ["sd" + "k-" + guid()],
    "mapbox-token": ["sk" + ".eyJ" + draw(60) + "." + draw(22)],
    "okta-token": ["okta 0" + "0" + draw(40)],
    "pagerduty-key": ["pd" + "us+" + draw(30)],
    "codeflow-token": ["cf" + "m_local_" + draw(10) + "_" + draw(43)],
    "jwt": [".".join(("ey" + "J" + draw(30), "ey" + "J" + draw(40), draw(43)))],
    "private-key": [
        block(k)
        for k in (
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "EC PRIVATE KEY",
            "PGP PRIVATE KEY BLOCK",
            "ENCRYPTED PRIVATE KEY",
        )
    ],
}
SAMPLES = [(kind, sample) for kind, samples in ISSUED.items() for sample in samples]

PASSWORD = draw(14) + "!9"
TOKEN = draw(40)
IN_CONTEXT = [
    ("connection-password", "postgresql://app:{}@db.internal:5432/shop", PASSWORD),
    ("connection-password", "mysql+pymysql://root:{}@db/shop", PASSWORD),
    ("connection-password", "mongodb+srv://u:{}@c0.example.net/?w=majority", PASSWORD),
    ("connection-password", "redis://:{}@cache:6379/0", PASSWORD),
    ("connection-password", "amqp://guest1:{}@queue:5672/", PASSWORD),
    ("connection-password", "Server=db;User ID=sa;Password={};Encrypt=true", PASSWORD),
    ("url-password", "https://deploy:{}@git.example/repo.git", PASSWORD),
    ("url-token", "https://{}@git.example/repo.git", TOKEN),
    ("password", 'password = "{}"', PASSWORD),
    ("password", "DB_PASSWORD={}", PASSWORD),
    ("password", "PGPASSWORD='{}'", PASSWORD),
    ("password", '"password": "{}"', PASSWORD),
    ("password", "passphrase: {}", PASSWORD),
    ("password", "the admin password is {}.", PASSWORD),
    ("password", "密码是\uff1a{}", PASSWORD),
    ("password", "curl -u admin:{} https://api.example", PASSWORD),
    ("password", "mysqldump --password={} shop", PASSWORD),
    ("password", "sshpass -p {} ssh host", PASSWORD),
    ("password", "machine git.example login deploy password {}", PASSWORD),
    ("password", "<password>{}</password>", PASSWORD),
    ("password", "db.internal:5432:shop:app:{}", PASSWORD),
    ("credential", 'api_key: "{}"', TOKEN),
    ("credential", "X_API_KEY={}", TOKEN),
    ("credential", "aws_secret_access_key = {}", TOKEN),
    ("credential", "client_secret={}", TOKEN),
    ("credential", "The API key: {}", TOKEN),
    ("password", "pwd: {}", PASSWORD + "!"),
    ("credential", "//registry.example/:_authToken={}", TOKEN),
    ("credential", "dd_api_key={}", draw(32, HEX)),
    ("credential", "HEROKU_API_KEY={}", guid()),
    ("authorization", "Authorization: Bearer {}", TOKEN),
    ("authorization", "Authorization: Basic {}", draw(30) + "=="),
    ("authorization", "sent as bearer {} by the client", TOKEN),
]

BENIGN = [
    draw(40, HEX),
    draw(64, HEX),
    f"reverts {draw(7, HEX)} and {draw(12, HEX)}",
    "sha256:" + draw(64, HEX),
    "integrity sha512-" + base64.b64encode(bytes(64)).decode(),
    "integrity sha512-" + base64.b64encode(bytes(range(64))).decode(),
    guid(),
    "request " + guid() + " failed",
    "mem_" + "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "src/very/long/path/to/some/deeply/nested/module_with_a_long_name.py",
    base64.b64encode(bytes(range(48))).decode(),
    base64.b64encode(b"a line of test data that is long enough to look like a key").decode(),
    "computeWeightedAverageOfAllObservedLatencies",
    "MAX_CONCURRENT_CONNECTIONS_PER_UPSTREAM_HOST",
    "set password policy in `auth/password_policy.py`",
    "https://docs.example/a/b?version=1.2.3#anchor",
    "Passwords are hashed with argon2id; the password is stored nowhere.",
    "The password must be at least 12 characters; password: required, string.",
    "password = os.environ['DB_PASSWORD']",
    "password: ${DB_PASSWORD}",
    "password=<your password>",
    'password = getpass.getpass("Password: ")',
    "password: str = Field(min_length=12)",
    "PASSWORD_MIN_LENGTH = 12",
    "password_hash = hasher.hash(password)",
    "the password is SHA-256 hashed",
    "reset the password to continue",
    "token = request.headers['Authorization']",
    "token: Annotated[str, Header()]",
    "token_type: bearer",
    "max_tokens: 4096",
    "api_key = settings.OPENAI_API_KEY",
    "apiKey: process.env.OPENAI_API_KEY",
    "api_key=YOUR_API_KEY_GOES_HERE_12345",
    "secret_name = prod/database/credentials-2024",
    "secret: kubernetes-dashboard-certs-2024",
    "secret=projects/123456/secrets/foo/versions/7",
    'cache_key = "user-profile-v2"',
    'token_url = "https://auth.example/oauth2/token"',
    "access_token_path: /var/run/secrets/kubernetes.io/serviceaccount/token",
    "Authorization: Bearer <token>",
    "Send `Authorization: Bearer $TOKEN` with each request.",
    "postgresql://user:password@localhost:5432/db",
    "postgresql://postgres:postgres@localhost/db",
    "postgresql://${USER}:${PASSWORD}@db/shop",
    "https://user:<password>@git.example/repo.git",
    "ssh://git@git.example:22/team/repo.git",
    "git@git.example:team/repo.git",
    "http://[::1]:8080/@scope/package",
    "ssh-ed25519 is the kind of key we use; see ~/.ssh/config",
    "-----BEGIN CERTIFICATE-----\n" + draw(64) + "\n-----END CERTIFICATE-----",
    "global-configuration-of-the-continuous-integration-pipeline",
    "hf_compute_average, re_compiled_patternsForEveryThingWeKnow",
    "sk-learn-contrib-and-other-long-package-names",
    "key-value-store-abstraction-layer",
    "npm_config_registry_and_other_environment_variables",
    "docker run --token-file /run/secrets/token image",
    "primary_key: account_identifier_v2",
    "数据库密码在配置文件中\uff0c不要提交。",
    "[redacted:github-token] and password = [redacted:password]",
    "ticket PROJ-12345, version 1.22.333-rc.4+build.5678",
]


def content(**changes: object) -> Content:
    return Content(**{"kind": Kind.FACT, "title": "A title", "body": "A body.", **changes})


@pytest.mark.parametrize(
    ("kind", "sample"), SAMPLES, ids=[f"{k}-{i}" for i, (k, _) in enumerate(SAMPLES)]
)
def test_an_issued_secret_is_replaced_by_its_kind(kind, sample):
    text, kinds = redact(f"Set it to {sample} and restart the worker.")

    assert kind in kinds
    assert sample not in text
    assert f"[redacted:{kind}]" in text
    assert text.startswith("Set it to ")
    assert text.endswith(" and restart the worker.")


@pytest.mark.parametrize(
    ("kind", "form", "value"), IN_CONTEXT, ids=[form for _, form, _ in IN_CONTEXT]
)
def test_a_value_is_a_secret_where_its_surroundings_say_so(kind, form, value):
    text, kinds = redact(f"Before.\n{form.format(value)}\nAfter.")

    assert text == f"Before.\n{form.format(f'[redacted:{kind}]')}\nAfter."
    assert kinds == (kind,)


def test_every_rule_has_a_sample():
    assert {rule.kind for rule in RULES} <= ISSUED.keys()
    assert len(ISSUED) >= 60


@pytest.mark.parametrize("text", BENIGN)
def test_anchors_and_prose_survive(text):
    for surrounded in (text, f"Note: {text} matters.", f"- {text}\n- next"):
        assert redact(surrounded) == (surrounded, ())


def test_a_key_block_without_its_end_is_taken_to_the_end_of_its_lines():
    cut = block("RSA PRIVATE KEY").rpartition("\n")[0]

    text, kinds = redact(f"key:\n{cut}\n{draw(10)}==\n\nNext comes a paragraph.")

    assert text == "key:\n[redacted:private-key]\n\nNext comes a paragraph."
    assert kinds == ("private-key",)


def test_a_key_of_putty_is_a_private_key():
    key = "\n".join(draw(64) for _ in range(4))

    assert redact(f"Private-Lines: 4\n{key}\n:end") == (
        "Private-Lines: 4\n[redacted:private-key]:end",
        ("private-key",),
    )


def test_a_block_within_a_block_is_one_secret():
    twice = block("PRIVATE KEY").replace("\n", "\n-----BEGIN " + "PRIVATE KEY-----\n", 2)

    assert len(find(twice)) == 1


DISGUISES = {
    "zero width": "\u200b".join,
    "soft hyphens": lambda t: t[:9] + "\u00ad" + t[9:],
    "full width": lambda t: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in t),
    "mathematical": lambda t: "".join(chr(0x1D7F6 + int(c)) if c.isdigit() else c for c in t),
    "Cyrillic": lambda t: t.translate(str.maketrans("aceopx", "асеорх")),  # noqa: RUF001 - meant
    "in code": lambda t: f"`{t}`",
}


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
@pytest.mark.parametrize(
    "kind", ["github-token", "aws-access-key", "stripe-key", "slack-token", "jwt", "codeflow-token"]
)
def test_a_disguise_does_not_save_a_secret(kind, disguise):
    hidden = disguise(ISSUED[kind][0])

    text, kinds = redact(f"値は {hidden} です")

    assert kinds == (kind,)
    assert text.replace("`", "") == f"値は [redacted:{kind}] です"


def test_secrets_are_ordered_and_apart():
    text = " and ".join(sample for _, sample in SAMPLES)

    secrets = find(text)

    assert len(secrets) >= len(SAMPLES) - 1
    assert all(0 <= s.start < s.end <= len(text) for s in secrets)
    assert all(a.end <= b.start for a, b in pairwise(secrets))


pieces = st.one_of(
    st.sampled_from([sample for _, sample in SAMPLES]),
    st.sampled_from([form.format(value) for _, form, value in IN_CONTEXT]),
    st.sampled_from(BENIGN),
    st.text(max_size=12),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(pieces, max_size=6), st.sampled_from(["", " ", "\n", "="]))
def test_redacting_twice_changes_nothing_more(parts, glue):
    once, _ = redact(glue.join(parts))

    assert redact(once) == (once, ())
    assert find(once) == []


def test_every_field_is_redacted():
    value = ISSUED["github-token"][0]

    redacted, kinds = redact_content(
        content(
            title=f"Rotate {value}",
            body=f"It was {value}.",
            tags=("ops", value),
            paths=(f"keys/{value}",),
            branches=(value,),
            sources=(f"session:{value}",),
            key=value,
        )
    )

    assert value not in redacted.canonical()
    assert kinds == ("github-token",)


def test_content_without_secrets_is_the_same_object():
    plain = content()

    assert redact_content(plain) == (plain, ())
    assert redact_content(plain)[0] is plain


@pytest.mark.parametrize("field", ["title", "body"])
@pytest.mark.parametrize("form", ["{}", " `{}`. ", "{} {}"])
def test_a_text_that_is_nothing_but_a_secret_is_refused(field, form):
    value = ISSUED["npm-token"][0]

    with pytest.raises(InvalidRequestError) as refused:
        redact_content(content(**{field: form.replace("{}", value)}))

    assert [fault.pointer for fault in refused.value.faults] == [f"/{field}"]
    assert value not in str(refused.value)


def test_a_title_that_its_replacements_make_too_long_is_refused():
    with pytest.raises(InvalidRequestError, match="/title"):
        redact_content(content(title="x" * 170 + " password='hunter2!' pwd='hunter3!'"))


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "A",
        "=",
        "://",
        "a:",
        "password",
        "password=",
        "token:",
        "-----BEGIN PRIVATE KEY-----",
        "sk-",
        "ghp_",
        "x://u:",
        "字",
        "\u200b",
        "curl -u ",
        "0123456789abcdef",
        "login ",
        "bearer ",
        "<token>",
        "M.",
        "eyJ.",
        "word ",
        "password is ",
    ],
)
def test_no_text_takes_long(unit, least_seconds):
    text = (unit * 16_384)[:16_384]
    assert least_seconds(lambda: find(text)) < 0.2


def test_samples_are_stable_under_normalisation():
    assert all(unicodedata.normalize("NFC", sample) == sample for _, sample in SAMPLES)
