"""Where credentials stand in notes: sentences, settings, commands, code, tables, in two languages.

In a form ``{}`` is the credential, ``{service}`` the product that it is for and ``{SERVICE}`` that
in capitals. A kind whose value tells nothing by itself brings forms of its own.
"""

import string
from dataclasses import dataclass

from benchmarks.credentials.kinds import ISSUED, Draw, Kind, Maker

FORMS = {
    "sentence": "Set the {service} token to {} and restart the worker.",
    "aside": "CI for {service} broke again (it still used {}), so we rotated.",
    "bare": "Found in the old {service} job: {}",
    "Chinese": "{service} \u7684\u51ed\u636e\u662f {}\uff0c\u8bf7\u4e0d\u8981\u5916\u4f20\u3002",
    "Chinese without spaces": "\u90e8\u7f72{service}\u65f6\u7528\u7684\u4ee4\u724c\u4e3a{}\u3002",
    "environment file": "{SERVICE}_TOKEN={}",
    "quoted export": 'export {SERVICE}_API_KEY="{}"',
    "settings": "[{service}]\nenabled = true\ntoken = {}\ntimeout = 30",
    "JSON": '{"service": "{service}", "token": "{}", "retries": 3}',
    "YAML": "{service}:\n  region: eu-1\n  auth_token: {}\n  replicas: 2",
    "YAML list": "env:\n  - name: {SERVICE}_KEY\n    value: '{}'",
    "table": "| service | value |\n| --- | --- |\n| {service} | `{}` |",
    "Python": 'client = Client("{service}", "{}")',
    "keyword argument": "client = {service}.connect(token='{}', timeout=5)",
    "JavaScript": "const {service} = new Api({ key: '{}' });",
    "Go": '\tc := {service}.New(ctx, "{}")',
    "header": "curl -H 'Authorization: Bearer {}' https://api.{service}.example/v1",
    "header of another name": 'curl -H "X-Auth-Token: {}" https://{service}.example/v1/me',
    "command": "{service} login --token {} --region eu",
    "Dockerfile": "ENV {SERVICE}_SECRET {}\nRUN make",
    "XML": '<add key="{service}" value="{}" />',
    "log line": "2026-03-01T08:00:00Z WARN {service} refused key={} status=401",
    "comment": "# {service}: {}  (remove before merging)",
    "fence": "```sh\n{service} --key {} push\n```",
}
"""For tokens whose form tells what they are."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A kind whose value is told by where it stands, and the forms it stands in."""

    kind: Kind
    forms: tuple[str, ...]


def _placed(name: str, make: Maker, *forms: str) -> Placed:
    return Placed(Kind(name, "billing", make), forms)


_PASSWORDS = (
    _placed(
        "assigned password",
        Draw.password,
        "DB_PASSWORD={}",
        'password = "{}"',
        "'password': '{}',",
        "spring.datasource.password={}",
        "  password: {}",
        "const dbPassword = '{}';",
        "ENV MYSQL_ROOT_PASSWORD={}",
        "ENV ADMIN_PASSWORD {}",
        "| admin password | {} |",
        "export PGPASSWORD='{}'",
    ),
    _placed(
        "spoken password",
        Draw.password,
        "The admin password is {}.",
        "Log in as root with the password {} on the staging box.",
        "Use {} as the password for the demo user.",
        "The password for the demo account: {}",
        "Password (staging): {}",
        "username admin, password {}",
        "the passphrase of the signing key was changed to {}",
        "creds: admin / {}",
        "credentials are deploy:{} for the registry",
        "login: admin, pw: {}",
    ),
    _placed(
        "spoken Chinese password",
        Draw.password,
        "\u6570\u636e\u5e93\u5bc6\u7801\u662f {}",
        "\u7ba1\u7406\u5458\u5bc6\u7801\uff1a{}",
        "\u6d4b\u8bd5\u73af\u5883\u7684\u53e3\u4ee4\u4e3a{}\u3002",
        "\u7528\u6237\u540d admin\uff0c\u5bc6\u7801 {}\uff0c\u7aef\u53e3 22",
        "\u767b\u5f55\u5bc6\u7801\u6539\u6210\u4e86{}\uff0c\u522b\u5fd8\u4e86\u3002",
        "root\u7684\u5bc6\u7801\u5df2\u91cd\u7f6e\u4e3a {}",
    ),
    _placed(
        "database address",
        Draw.password,
        "postgresql://app:{}@db.internal:5432/shop",
        "DATABASE_URL=mysql+pymysql://root:{}@db/shop",
        "mongodb+srv://u:{}@c0.example.net/?w=majority",
        "redis://:{}@cache:6379/0",
        "amqp://guest1:{}@queue:5672/",
        "jdbc:postgresql://db/shop?user=app&password={}",
        "clickhouse://default:{}@ch:9000/default",
    ),
    _placed(
        "connection string",
        Draw.password,
        "Server=db;User ID=sa;Password={};Encrypt=true",
        "Data Source=db;Initial Catalog=x;Uid=sa;Pwd={};",
        "host=db port=5432 user=app password={} dbname=shop",
        "dsn: user=app password='{}' host=db",
    ),
    _placed(
        "web address",
        Draw.password,
        "git clone https://deploy:{}@git.example/team/repo.git",
        "index-url = https://ci:{}@packages.example/simple",
        "proxy: http://proxy-user:{}@proxy.internal:3128",
    ),
    _placed(
        "command password",
        Draw.password,
        "curl -u admin:{} https://api.example",
        "mysqldump --password={} shop",
        "mysql -u root -p{} shop",
        "sshpass -p {} ssh host",
        "docker login -u bot -p {} registry.example",
        "redis-cli -a {} ping",
        "openssl pkcs12 -passin pass:{} -in a.p12",
        "echo '{}' | sudo -S reboot",
        "net use Z: \\\\files\\share {} /user:corp\\bot",
        "htpasswd -b .htpasswd admin {}",
        "PGPASSWORD={} psql -h db",
        "ldapsearch -D cn=admin -w {} -b dc=x",
    ),
    _placed(
        "password file",
        Draw.password,
        "machine git.example login deploy password {}",
        "db.internal:5432:shop:app:{}",
        "<password>{}</password>",
        '<property name="password" value="{}"/>',
        'requirepass "{}"',
        'network={\n  ssid="office"\n  psk="{}"\n}',
    ),
)

_KEYS = (
    _placed(
        "aws secret key",
        lambda d: d.bytes64(30),
        "aws_secret_access_key = {}",
        'AWS_SECRET_ACCESS_KEY="{}"',
        "secretAccessKey: {}",
        "the AWS secret access key is {}",
    ),
    _placed(
        "azure storage key",
        lambda d: d.bytes64(64),
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=x",
        "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey={}",
    ),
    _placed(
        "signed address",
        lambda d: d(43) + "%3D",
        "https://x.blob.example/c?sv=2024&se=2026-01-01&sr=c&sp=rl&sig={}",
    ),
    _placed(
        "presigned address",
        lambda d: d.hex(64),
        "https://b.example/o?X-Amz-Expires=300&X-Amz-Signature={}",
        "https://b.example/o?X-Goog-Expires=300&X-Goog-Signature={}",
    ),
    _placed(
        "webhook address",
        lambda d: f"T{d(8, string.ascii_uppercase)}/B{d(8, string.ascii_uppercase)}/{d(24)}",
        "https://hooks" + ".slack.com/services/{}",
    ),
    _placed(
        "chat webhook",
        lambda d: d(68),
        "https://discord.com/api" + "/webhooks/597123896175994316/{}",
    ),
    _placed(
        "hex key",
        lambda d: d.hex(32),
        "api_key={}",
        '"apiKey": "{}"',
        "X-Api-Key: {}",
        "client_secret: '{}'",
        "The API key is {}",
        "https://api.example/v1/items?api_key={}",
        "https://api.example/v1/items?access_token={}&page=2",
        "SECRET_KEY_BASE={}",
    ),
    _placed(
        "application key",
        lambda d: d(50, string.ascii_letters + string.digits + "!@#%&*-_+"),
        "SECRET_KEY = '{}'",
        "app.secret_key = '{}'",
        "JWT_SECRET={}",
        'session_secret: "{}"',
    ),
    _placed(
        "identifier key",
        Draw.guid,
        "HEROKU_API_KEY={}",
        "client-secret: {}",
        '"api_token": "{}"',
    ),
    _placed(
        "bearer",
        lambda d: d(40),
        "Authorization: Bearer {}",
        "headers={'Authorization': 'token {}'}",
        "sent as bearer {} by the client",
        '--header "Private-Token: {}"',
    ),
    _placed(
        "basic",
        lambda d: d.bytes64(21),
        "Authorization: Basic {}",
        "authorization: 'Basic {}'",
    ),
    _placed(
        "registry login",
        lambda d: d.bytes64(24),
        "//registry.example/:_authToken={}",
        '{"auths": {"registry.example": {"auth": "{}"}}}',
        "_auth={}",
    ),
    _placed(
        "one-time seed",
        lambda d: d(32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
        "otpauth://totp/x:ann?secret={}&issuer=x",
        "TOTP secret: {}",
        "MFA_SECRET={}",
    ),
    _placed(
        "cluster certificate key",
        lambda d: d.bytes64(120),
        "client-key-data: {}",
        "tls.key: {}",
    ),
    _placed(
        "cookie",
        lambda d: d(43),
        "Cookie: sessionid={}",
        "Set-Cookie: session_token={}; HttpOnly",
    ),
    _placed(
        "wallet key",
        lambda d: "0x" + d.hex(64),
        "PRIVATE_KEY={}",
        'private_key = "{}"',
        "deployer private key: {}",
    ),
)

_BLOCKS = tuple(
    _placed(
        kind.lower(),
        lambda d, kind=kind: d.block(kind),
        "The deploy key:\n{}",
        "```\n{}\n```",
        "key: |\n{}",
    )
    for kind in (
        "RSA PRIVATE" + " KEY",
        "OPENSSH PRIVATE" + " KEY",
        "EC PRIVATE" + " KEY",
        "PRIVATE" + " KEY",
        "PGP PRIVATE" + " KEY BLOCK",
    )
)

PLACED = (*_PASSWORDS, *_KEYS, *_BLOCKS)


@dataclass(frozen=True, slots=True)
class Sample:
    """A note with a credential.

    ``form`` is the note with ``{}`` where the credential is; ``secret`` is the credential.
    """

    kind: str
    place: str
    form: str
    secret: str

    @property
    def text(self) -> str:
        """The note."""
        return self.form.replace("{}", self.secret)


_AROUND = (
    "{}",
    "Before we forget:\n\n{}\n\nAsk the platform team about the rest.",
    "- first point\n- {}\n- third point",
    "\u90e8\u7f72\u8bf4\u660e\uff1a\n{}\n\u8bf7\u53ca\u65f6\u66f4\u6362\u3002",
    "> {}\n\nSee `ops/README.md`.",
)


def samples(seed: int, placed: tuple[Placed, ...] | None = None) -> list[Sample]:
    """Make a note of every kind in every form; the same for the same seed."""
    draw = Draw(seed)
    made: list[Sample] = []
    for entry in everything() if placed is None else placed:
        for at, form in enumerate(entry.forms):
            around = _AROUND[(len(made) + at) % len(_AROUND)]
            service = entry.kind.service
            line = form.replace("{service}", service).replace("{SERVICE}", service.upper())
            made.append(
                Sample(entry.kind.name, form, around.replace("{}", line), entry.kind.make(draw))
            )
    return made


def everything() -> tuple[Placed, ...]:
    """Return the kinds that tell themselves, in the forms for all, and those placed."""
    return (*(Placed(kind, tuple(FORMS.values())) for kind in ISSUED), *PLACED)
