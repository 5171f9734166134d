"""Kinds of credentials as their issuers write them, made up anew from a seed.

No file of the project holds a credential's form: each is put together at run time, and its telling
part stands in pieces here, so that no scanner of what is pushed takes this for one.
"""

import base64
import random
import string
import uuid
from collections.abc import Callable
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
MARKS = "!#*-_.+"


class Draw:
    """Random characters, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - samples that stay the same

    def __call__(self, count: int, alphabet: str = ALNUM) -> str:
        """Return *count* characters of *alphabet*."""
        return "".join(self.random.choice(alphabet) for _ in range(count))

    def hex(self, count: int) -> str:
        """Return *count* hex digits."""
        return self(count, HEX)

    def guid(self) -> str:
        """Return a random UUID."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def bytes64(self, count: int) -> str:
        """Return *count* random bytes in base64."""
        return base64.b64encode(self.random.randbytes(count)).decode()

    def password(self) -> str:
        """Return what a generator of passwords gives: 12 to 20 characters of three classes."""
        body = self(self.random.randint(10, 18))
        at = self.random.randint(3, 8)
        return body[:at] + self(1, MARKS) + body[at:] + self(1, string.digits)

    def block(self, kind: str) -> str:
        """Return a block of six lines between a begin and an end."""
        lines = "\n".join(self(64) for _ in range(6))
        return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----"


Maker = Callable[[Draw], str]


@dataclass(frozen=True, slots=True)
class Kind:
    """What an issuer calls it, the product it belongs to, and how it is made."""

    name: str
    service: str
    make: Maker


def _kind(name: str, make: Maker, service: str = "") -> Kind:
    return Kind(name, service or name.split("-", maxsplit=1)[0], make)


_HOSTS = (
    _kind("github-token", lambda d: "gh" + d(1, "pousr") + "_" + d(36)),
    _kind("github-fine-token", lambda d: "github" + "_pat_" + d(22) + "_" + d(59)),
    _kind("gitlab-token", lambda d: "gl" + "pat-" + d(20)),
    _kind("gitlab-runner-token", lambda d: "gl" + "rt-" + d(20)),
    _kind("bitbucket-token", lambda d: "AT" + "BB" + d(32)),
    _kind("atlassian-token", lambda d: "ATA" + "TT3" + d(180)),
    _kind("buildkite-token", lambda d: "bk" + "ua_" + d.hex(40)),
    _kind("circleci-token", lambda d: "CCI" + "PAT_" + d(22) + "_" + d.hex(40)),
    _kind("sonar-token", lambda d: "sq" + "p_" + d.hex(40)),
    _kind("npm-token", lambda d: "np" + "m_" + d(36)),
    _kind("pypi-token", lambda d: "py" + "pi-AgEI" + d(80)),
    _kind("rubygems-token", lambda d: "ruby" + "gems_" + d.hex(48)),
    _kind("crates-token", lambda d: "ci" + "o" + d(32)),
    _kind("nuget-token", lambda d: "oy" + "2" + d(43, LOWER)),
    _kind("clojars-token", lambda d: "CLO" + "JARS_" + d(60, LOWER)),
    _kind("jfrog-token", lambda d: "AK" + "Cp" + d(69)),
    _kind("docker-token", lambda d: "dc" + "kr_pat_" + d(27)),
    _kind("postman-token", lambda d: "PM" + "AK-" + d.hex(24) + "-" + d.hex(34)),
    _kind("pulumi-token", lambda d: "pu" + "l-" + d.hex(40)),
    _kind("terraform-token", lambda d: d(14) + ".atlas" + "v1." + d(64)),
    _kind("prefect-token", lambda d: "pn" + "u_" + d(36)),
)

_CLOUDS = (
    _kind("aws-access-key", lambda d: d.random.choice(("AK", "AS")) + "IA" + d(16, UPPER)),
    _kind("aws-mws-token", lambda d: "amzn" + ".mws." + d.guid()),
    _kind("aws-bedrock-key", lambda d: "AB" + "SK" + d(120)),
    _kind("google-api-key", lambda d: "AI" + "za" + d(35)),
    _kind("google-oauth-secret", lambda d: "GOC" + "SPX-" + d(28)),
    _kind("google-oauth-token", lambda d: "ya" + "29." + d(60)),
    _kind("google-refresh-token", lambda d: "1/" + "/0" + d(40)),
    _kind("azure-client-secret", lambda d: d(3) + "8" + "Q~" + d(34)),
    _kind("azure-devops-token", lambda d: d(76) + "AZ" + "DO" + d(4)),
    _kind("alibaba-key", lambda d: "LT" + "AI" + d(20)),
    _kind("tencent-key", lambda d: "AK" + "ID" + d(32)),
    _kind("yandex-key", lambda d: "AQ" + "VN" + d(36)),
    _kind("digitalocean-token", lambda d: "do" + d(1, "opr") + "_v1_" + d.hex(64)),
    _kind("heroku-key", lambda d: "HR" + "KU-" + d.guid()),
    _kind("scaleway-key", lambda d: "SC" + "W" + d(17, UPPER)),
    _kind("cloudflare-key", lambda d: "v1" + ".0-" + d.hex(24) + "-" + d.hex(146)),
    _kind("netlify-token", lambda d: "nf" + "p_" + d(36)),
    _kind("vercel-token", lambda d: "vc" + "p_" + d(28)),
    _kind("supabase-token", lambda d: "sb" + "p_" + d.hex(40)),
    _kind("planetscale-token", lambda d: "pscale" + "_tkn_" + d(43)),
    _kind("databricks-token", lambda d: "da" + "pi" + d.hex(32)),
    _kind("openshift-token", lambda d: "sha" + "256~" + d(43)),
)

_MODELS = (
    _kind("anthropic-key", lambda d: "sk" + "-ant-api03-" + d(95)),
    _kind("openrouter-key", lambda d: "sk" + "-or-v1-" + d.hex(64)),
    _kind("openai-key", lambda d: "sk" + "-" + d(48)),
    _kind("openai-project-key", lambda d: "sk" + "-proj-" + d(74)),
    _kind("huggingface-token", lambda d: "hf" + "_" + d(34)),
    _kind("replicate-token", lambda d: "r8" + "_" + d(37)),
    _kind("groq-key", lambda d: "gs" + "k_" + d(52)),
    _kind("perplexity-key", lambda d: "pp" + "lx-" + d(48)),
    _kind("xai-key", lambda d: "xa" + "i-" + d(80)),
    _kind("tavily-key", lambda d: "tv" + "ly-" + d(32)),
)

_MESSAGES = (
    _kind(
        "slack-token",
        lambda d: "xo" + f"x{d(1, 'abp')}-{d(12, '123')}-{d(12, '123')}-{d(24)}",
    ),
    _kind("slack-app-token", lambda d: "xa" + "pp-1-" + d(40)),
    _kind("discord-token", lambda d: "M" + d(25) + "." + d(6) + "." + d(38)),
    _kind("telegram-token", lambda d: d(9, "123456789") + ":A" + "A" + d(33)),
    _kind("twilio-key", lambda d: "S" + "K" + d.hex(32)),
    _kind("sendgrid-key", lambda d: "S" + "G." + d(22) + "." + d(43)),
    _kind("mailgun-key", lambda d: "ke" + "y-" + d.hex(32)),
    _kind("mailchimp-key", lambda d: d.hex(32) + "-u" + "s14"),
    _kind("mailersend-key", lambda d: "ml" + "sn." + d.hex(64)),
    _kind("brevo-key", lambda d: "xkey" + "sib-" + d.hex(64) + "-" + d(16)),
    _kind("resend-key", lambda d: "re" + "_" + d(8) + "_" + d(24)),
    _kind("twitter-token", lambda d: "A" * 22 + d(25) + "%" + "2B" + d(20) + "%3D" + d(50)),
    _kind("facebook-token", lambda d: "EA" + "A" + d(120)),
    _kind("linear-key", lambda d: "lin" + "_api_" + d(40)),
    _kind("notion-token", lambda d: "nt" + "n_" + d(46)),
    _kind("figma-token", lambda d: "fi" + "gd_" + d(40)),
    _kind("airtable-token", lambda d: "pa" + "t" + d(14) + "." + d.hex(64)),
    _kind("asana-token", lambda d: "1/" + d(16, "123456789") + ":" + d.hex(32)),
    _kind("hubspot-token", lambda d: "pa" + "t-na1-" + d.guid()),
    _kind("typeform-token", lambda d: "tf" + "p_" + d(59)),
    _kind("contentful-token", lambda d: "CF" + "PAT-" + d(43)),
)

_PAYMENTS = (
    _kind("stripe-key", lambda d: d(1, "sr") + "k_live_" + d(24)),
    _kind("webhook-secret", lambda d: "wh" + "sec_" + d(32), "stripe"),
    _kind("square-token", lambda d: "sq" + "0atp-" + d(22)),
    _kind("shopify-token", lambda d: "sh" + "p" + "at_" + d.hex(32)),
    _kind("braintree-token", lambda d: "access" + f"_token$live${d(16, LOWER)}${d.hex(32)}"),
    _kind("plaid-token", lambda d: "access" + "-production-" + d.guid()),
    _kind("razorpay-key", lambda d: "rz" + "p_live_" + d(14)),
    _kind("flutterwave-key", lambda d: "FLW" + "SECK-" + d.hex(32) + "-X"),
    _kind("easypost-key", lambda d: "EZ" + "AK" + d(54)),
    _kind("duffel-token", lambda d: "duf" + "fel_live_" + d(43)),
    _kind("shippo-token", lambda d: "ship" + "po_live_" + d.hex(40)),
)

_OPERATIONS = (
    _kind("datadog-key", lambda d: "dd" + "app_" + d(40)),
    _kind("newrelic-key", lambda d: "NR" + "AK-" + d(27, UPPER)),
    _kind("sentry-token", lambda d: "snt" + "rys_" + d(80)),
    _kind("grafana-token", lambda d: "gl" + "sa_" + d(32) + "_" + d.hex(8)),
    _kind("dynatrace-token", lambda d: "dt" + "0c01." + d(24, UPPER) + "." + d(64, UPPER)),
    _kind("vault-token", lambda d: "hv" + "s." + d(90)),
    _kind("doppler-token", lambda d: "d" + "p.pt." + d(43)),
    _kind("onepassword-token", lambda d: "op" + "s_eyJ" + d(200)),
    _kind(
        "onepassword-key",
        lambda d: "A" + "3-" + d(6, UPPER) + "-" + d(11, UPPER) + f"-{d(5, UPPER)}" * 3,
    ),
    _kind("age-key", lambda d: "AGE-" + "SECRET-KEY-1" + d(58, UPPER)),
    _kind("launchdarkly-key", lambda d: "sd" + "k-" + d.guid()),
    _kind("mapbox-token", lambda d: "sk" + ".eyJ" + d(60) + "." + d(22)),
    _kind("okta-token", lambda d: "0" + "0" + d(40)),
    _kind("pagerduty-key", lambda d: "pd" + "us+" + d(30)),
    _kind("codeflow-token", lambda d: "cf" + "m_local_" + d(10) + "_" + d(43)),
    _kind("jwt", lambda d: ".".join(("ey" + "J" + d(30), "ey" + "J" + d(40), d(43))), "session"),
)

ISSUED = (*_HOSTS, *_CLOUDS, *_MODELS, *_MESSAGES, *_PAYMENTS, *_OPERATIONS)
"""Tokens that tell their issuer by their form."""
