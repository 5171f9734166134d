"""The forms of credentials that name their issuer: one row each.

A row is looked at only when its ``mark`` occurs in the text, so that the catalogue may grow
without cost. No pattern can start again inside its own match, and none nests a repetition: each
reads a text in one pass. Where a pattern has a group ``secret``, that part alone is the secret.
"""

import re
from dataclasses import dataclass

from codeflow_memory.domain.patterns import compiled


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of credential.

    ``marks`` are texts, as they are written, without one of which the pattern cannot match;
    ``near``, in lower case, is a word that must occur somewhere in the text, for forms that are
    not telling alone. A ``wordy`` form could be a long name as well, as in ``hf_computeAverage…``.
    """

    kind: str
    marks: tuple[str, ...]
    expression: str
    near: str = ""
    wordy: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """What a credential of this kind looks like."""
        return compiled(self.expression, re.ASCII)


def _token(kind: str, marks: str, form: str, *, near: str = "", wordy: bool = False) -> Rule:
    """Build the rule of a token that stands alone: no letter, digit, ``_`` or ``-`` around it."""
    expression = rf"(?<![\w-])(?:{form})(?![\w-])"
    return Rule(kind, tuple(marks.split()), expression, near, wordy)


def _within(kind: str, marks: str, form: str, *, near: str = "") -> Rule:
    return Rule(kind, tuple(marks.split()), form, near)


_UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

_CODE_HOSTS = (
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    _token("github-token", "github_pat_", r"github_pat_\w{22,}"),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
        r"gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct)-(?:[a-z]\d_)?[\w-]{20,}(?:\.[\w-]{2,}){0,3}",
    ),
    _token("gitlab-token", "GR1348941", r"GR1348941[\w-]{20,}"),
    _token("bitbucket-token", "ATBB", r"ATBB[A-Za-z0-9]{28,}"),
    _token("atlassian-token", "ATATT3 ATCTT3", r"AT(?:ATT|CTT)3[\w=-]{60,}"),
    _token("buildkite-token", "bkua_ bkat_ bkpt_", r"bk(?:ua|at|pt)_[0-9a-f]{40,}"),
    _token("circleci-token", "CCIPAT_", r"CCIPAT_[A-Za-z0-9]{16,}_[0-9a-f]{40}"),
    _token("sonar-token", "sqp_ squ_ sqa_", r"sq[pua]_[0-9a-f]{40}"),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    _token("pypi-token", "pypi-", r"pypi-[\w-]{50,}"),
    _token("rubygems-token", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _token("crates-token", "cio", r"cio[A-Za-z0-9]{32}"),
    _token("nuget-token", "oy2", r"oy2[a-z0-9]{43}"),
    _token("clojars-token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    _token("jfrog-token", "AKCp", r"AKCp[A-Za-z0-9]{60,}"),
    _token("jfrog-token", "cmVmdGtu", r"cmVmdGtu[A-Za-z0-9]{48,}"),
    _token("docker-token", "dckr_", r"dckr_[po]at_[\w-]{27,}"),
    _token("postman-token", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("pulumi-token", "pul-", r"pul-[0-9a-f]{40}"),
    _token("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"),
    _token("prefect-token", "pnu_", r"pnu_[A-Za-z0-9]{36}"),
)

_CLOUDS = (
    _token(
        "aws-access-key",
        "AKIA ASIA ABIA ACCA A3T",
        r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}",
    ),
    _token("aws-mws-token", "amzn.mws.", rf"amzn\.mws\.{_UUID}"),
    _within("aws-bedrock-key", "ABSK", r"(?<![\w+/])ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    _token("google-api-key", "AIza", r"AIza[\w-]{35}"),
    _token("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{28}"),
    _token("google-oauth-token", "ya29.", r"ya29\.[\w-]{20,}(?:\.[\w-]+)?"),
    _token("google-refresh-token", "1//0", r"1//0[\w-]{30,}"),
    _within(
        "azure-storage-key",
        "Key= key=",
        r"(?i:account|sharedaccess)(?i:key)=(?P<secret>[\w+/]{40,88}={0,2})",
    ),
    _within("azure-sas", "sig=", r"[?&;]sig=(?P<secret>[\w+/%-]{40,}(?:%3D|=){0,2})"),
    _token("azure-client-secret", "Q~", r"[\w.~]{3}\dQ~[\w.~-]{31,34}"),
    _token("azure-devops-token", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    _within(
        "presigned-url",
        "X-Amz-Signature X-Goog-Signature",
        r"X-(?:Amz|Goog)-Signature=(?P<secret>[0-9a-f]{64,})",
    ),
    _token("alibaba-key", "LTAI", r"LTAI[A-Za-z0-9]{16,22}"),
    _token("tencent-key", "AKID", r"AKID[A-Za-z0-9]{32}"),
    _token("yandex-key", "AQVN", r"AQVN[\w-]{35,38}"),
    _token("digitalocean-token", "dop_ doo_ dor_", r"do[opr]_v1_[0-9a-f]{64}"),
    _token("heroku-key", "HRKU-", r"HRKU-[\w-]{36,}"),
    _token("scaleway-key", "SCW", r"SCW[A-Z0-9]{17}", near="scaleway"),
    _token("cloudflare-token", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    _token("cloudflare-token", "cfat_ cfut_ cfk_", r"cf(?:at|ut|k)_[A-Za-z0-9]{40,}", wordy=True),
    _within("fly-token", "FlyV1", r"FlyV1 (?P<secret>fm\d[ab]?_[\w+/=,-]{40,})"),
    _token("fly-token", "fo1_", r"fo1_[\w-]{43}"),
    _token("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,}"),
    _token("vercel-token", "vcp_ vck_ vci_ vca_ vcr_", r"vc[pkiar]_[A-Za-z0-9]{24,}", wordy=True),
    _token("supabase-token", "sbp_ sb_secret_", r"sb(?:p_(?:v0_)?[0-9a-f]{40}|_secret_[\w-]{20,})"),
    _token("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w=.-]{32,}"),
    _token("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    _token("openshift-token", "sha256~", r"sha256~[\w-]{43}"),
)

_MODELS = (
    _token("anthropic-key", "sk-ant-", r"sk-ant-[a-z]{2,8}\d\d-[\w-]{20,}"),
    _token("openrouter-key", "sk-or-", r"sk-or-v\d-[0-9a-f]{40,}"),
    _token("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}", wordy=True),
    _token("openai-key", "sk-", r"sk-[A-Za-z0-9]{32,}", wordy=True),
    _token("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,}", wordy=True),
    _token("huggingface-token", "api_org_", r"api_org_[A-Za-z]{34}"),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37,}"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{48,}", wordy=True),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _token("tavily-key", "tvly-", r"tvly-[\w-]{24,}"),
)

_MESSAGING = (
    _token("slack-token", "xox", r"xox[abeoprs](?:\.xox[bp])?-[\w-]{10,}"),
    _token("slack-token", "xapp-", r"xapp-\d-[\w-]{20,}"),
    _within(
        "slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/[a-z]+/(?P<secret>[\w/-]{20,})"
    ),
    _within("discord-webhook", "/api/webhooks/", r"/api/webhooks/\d{15,21}/(?P<secret>[\w-]{50,})"),
    _within(
        "discord-token",
        ".",
        r"[MNO](?<![\w-][MNO])[\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])",
    ),
    _within(
        "teams-webhook",
        "webhook.office.com",
        r"IncomingWebhook/(?P<secret>[0-9a-f]{32}/[\w/-]{30,})",
    ),
    _token("telegram-token", ":AA", r"\d{8,10}:AA[\w-]{32,34}"),
    _token("twilio-key", "SK", r"SK[0-9a-f]{32}"),
    _token("sendgrid-key", "SG.", r"SG\.[\w-]{18,24}\.[\w-]{39,50}"),
    _token("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    _token("mailgun-key", "-", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}", near="mailgun"),
    _token("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    _token("mailersend-key", "mlsn.", r"mlsn\.[0-9a-f]{64}"),
    _token("brevo-key", "xkeysib-", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _token("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", wordy=True),
    _within(
        "twitter-token",
        "AAAAAAAA",
        r"(?<![\w%])A{18,24}[A-Za-z0-9]{0,60}%(?:2[BF]|3D)[A-Za-z0-9%]{20,}",
    ),
    _token("facebook-token", "EAA", r"EAA[A-Za-z0-9]{90,}", near="facebook"),
    _token("linear-key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _token(
        "notion-token",
        "secret_ ntn_",
        r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})",
        wordy=True,
    ),
    _token("figma-token", "figd_ figu_ figour_ figoh_", r"fig(?:d|u|our|oh)_[\w-]{36,}"),
    _within("airtable-token", "pat", r"pat(?<![\w-]pat)[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![\w-])"),
    _token("asana-token", "/", r"[12]/\d{10,}:[0-9a-f]{32}", near="asana"),
    _token("hubspot-token", "pat-", rf"pat-[a-z]{{2}}\d-{_UUID}"),
    _token("typeform-token", "tfp_", r"tfp_[\w-]{40,}"),
    _token("contentful-token", "CFPAT-", r"CFPAT-[\w-]{43}"),
)

_PAYMENTS = (
    _token("stripe-key", "sk_ rk_", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}"),
    _within("webhook-secret", "whsec_", r"(?<!\w)whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    _token("square-token", "sq0", r"sq0[a-z]{3}-[\w-]{22,50}"),
    _token("square-token", "EAAA", r"EAAA[\w-]{60}", near="square"),
    _token(
        "shopify-token",
        "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_",
        r"shp(?:at|ca|pa|ss|tka|ua)_[0-9a-fA-F]{32}",
    ),
    _within(
        "braintree-token", "access_token$", r"access_token\$[a-z]+\$[0-9a-z]{16}\$[0-9a-f]{32}"
    ),
    _token("plaid-token", "access-", rf"access-(?:sandbox|development|production)-{_UUID}"),
    _token("razorpay-key", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    _token("flutterwave-key", "FLWSECK", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,40}(?:-X)?"),
    _token("easypost-key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _token("duffel-token", "duffel_", r"duffel_(?:live|test)_[\w-]{43}"),
    _token("shippo-token", "shippo_", r"shippo_(?:live|test)_[0-9a-f]{40}"),
)

_OPERATIONS = (
    _token("datadog-key", "ddapp_", r"ddapp_[A-Za-z0-9]{30,}"),
    _token(
        "newrelic-key",
        "NRAK- NRII- NRIQ- NRJS- NRRA- NRBR-",
        r"NR(?:AK|II|IQ|JS|RA|BR)-[A-Za-z0-9_-]{19,}",
    ),
    _token("newrelic-key", "NRAL", r"[0-9a-f]{36}(?:FFFF)?NRAL"),
    _within("sentry-token", "sntry", r"(?<!\w)sntry[su]_[A-Za-z0-9+/=_-]{50,}"),
    _within(
        "grafana-token",
        "glsa_ glc_",
        r"(?<!\w)(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})",
    ),
    _token("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}"),
    _token("vault-token", "s.", r"s\.[A-Za-z0-9]{24}", near="vault"),
    _token("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}"),
    _token("onepassword-token", "ops_eyJ", r"ops_eyJ[\w-]{100,}={0,2}"),
    _token(
        "onepassword-key",
        "A3-",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    _token("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _token("launchdarkly-key", "sdk- mob-", rf"(?:sdk|mob)-{_UUID}"),
    _token("mapbox-token", "sk.eyJ", r"sk\.eyJ[\w-]{20,}\.[\w-]{20,}"),
    _token("okta-token", "00", r"00[\w-]{40}", near="okta"),
    _token("pagerduty-key", "pdus+", r"pdus\+[\w+-]{20,}"),
    _token("codeflow-token", "cfm_", r"cfm_[a-z0-9][a-z0-9-]{0,62}_[A-Za-z0-9]{6,}_[\w-]{20,}"),
    _token("jwt", "eyJ", r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
)

RULES: tuple[Rule, ...] = (
    *_CODE_HOSTS,
    *_CLOUDS,
    *_MODELS,
    *_MESSAGING,
    *_PAYMENTS,
    *_OPERATIONS,
)
