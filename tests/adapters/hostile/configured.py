"""Configurations of a repository that make plain git run a command, or read elsewhere."""

CONFIGURED = {
    "fsmonitor": "[core]\n\tfsmonitor = $RUN\n",
    "hooks path": "[core]\n\thooksPath = $OUT/hooks\n",
    "ssh command": '[core]\n\tsshCommand = $RUN\n[remote "origin"]\n\turl = ssh://h/x\n',
    "pager": "[core]\n\tpager = $RUN\n[pager]\n\tlog = $RUN\n\trev-list = $RUN\n\tls-tree = $RUN\n",
    "editor": "[core]\n\teditor = $RUN\n[sequence]\n\teditor = $RUN\n",
    "askpass": "[core]\n\taskPass = $RUN\n[credential]\n\thelper = !$RUN\n",
    "git proxy": "[core]\n\tgitProxy = $RUN\n",
    "filters": '[filter "evil"]\n\tclean = $RUN\n\tsmudge = $RUN\n\tprocess = $RUN\n\trequired\n',
    "text conversion": '[diff "evil"]\n\ttextconv = $RUN\n\tcommand = $RUN\n',
    "external diff": "[diff]\n\texternal = $RUN\n",
    "merge driver": '[merge "evil"]\n\tdriver = $RUN\n',
    "diff tools": "[difftool]\n\tprompt = false\n[mergetool]\n\tcmd = $RUN\n",
    "signatures": "[gpg]\n\tprogram = $RUN\n[log]\n\tshowSignature = true\n",
    "ssh signatures": '[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = $RUN\n',
    "aliases": "[alias]\n"
    + "".join(f"\t{c} = !$RUN\n" for c in ["rev-parse", "rev-list", "ls-tree", "config"]),
    "promisor": "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = evil\n"
    '[remote "evil"]\n\turl = ext::$RUN\n\tpromisor = true\n[protocol]\n\tallow = always\n',
    "promisor by upload-pack": "[core]\n\trepositoryformatversion = 1\n[extensions]\n"
    '\tpartialClone = evil\n[remote "evil"]\n\turl = .\n\tuploadpack = $RUN\n\tpromisor = true\n',
    "pack objects hook": "[uploadpack]\n\tpackObjectsHook = $RUN\n",
    "alternate refs": "[core]\n\talternateRefsCommand = $RUN\n",
    "alternate object": "[core]\n\tworktree = $OUT\n\tattributesFile = $OUT/a\n",
    "include": "[include]\n\tpath = $OUT/config\n",
    "conditional include": '[includeIf "gitdir:/"]\n\tpath = $OUT/config\n',
    "include of a pipe": "[include]\n\tpath = $OUT/pipe\n",
    "trailers": '[trailer "x"]\n\tcommand = $RUN\n\tcmd = $RUN\n',
    "submodule update": '[submodule "x"]\n\tupdate = !$RUN\n\tactive = true\n',
    "tracing": "[trace2]\n\tnormalTarget = $OUT/canary\n\teventTarget = $OUT/canary\n",
    "maintenance": "[maintenance]\n\tauto = true\n[gc]\n\tauto = 1\n\trecentObjectsHook = $RUN\n",
    "safe directory": "[safe]\n\tdirectory = *\n\tbareRepository = all\n",
    "precious": "[core]\n\tbare = true\n\tignoreCase = true\n\tprotectNTFS = false\n",
    "odd values": "[core]\n\tbigFileThreshold = 0\n\tcompression = 99\n\tabbrev = 1\n",
}
