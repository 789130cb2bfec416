#!/usr/bin/python3
"""Writes vaults.jsonl and errors.jsonl with ansible-core's own VaultLib."""
import json, os, random
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.utils.display import Display
Display.warning = lambda self, msg, formatted=False: None

here = os.path.dirname(os.path.abspath(__file__))
random.seed(3)
with open(os.path.join(here, 'vaults.jsonl'), 'w') as f:
    for i, plain in enumerate(["", "x", "secret\n", "größe: ü\n", "0123456789abcdef", "0123456789abcde", "a: b\n" * 300, "{{ lookup('env', 'X') }}"]):
        for id in (None, "default", "prod", "my id") if i == 1 else (None,):
            password = "pässword" if i % 2 else "p%d" % i
            salt = "salt%d%s" % (i, id)
            lib = VaultLib([(id or 'default', VaultSecret(password.encode()))])
            text = lib.encrypt(plain, lib.secrets[0][1], vault_id=id, salt=salt)
            assert lib.decrypt(text).decode() == plain
            f.write(json.dumps({"plain": plain, "password": password, "id": id or "", "salt": salt, "vault": text.decode()}) + "\n")

good = VaultLib([('default', VaultSecret(b'right'))])
whole = good.encrypt("text", good.secrets[0][1], salt="s").decode()
head, body = whole.split("\n", 1)
cases = {
    "plain text": "just text",
    "nothing": "",
    "header alone": "$ANSIBLE_VAULT",
    "short header": "$ANSIBLE_VAULT;1.1",
    "other cipher": "$ANSIBLE_VAULT;1.1;AES\n" + body,
    "no body": head + "\n",
    "odd body": head + "\n" + body[:-2] + "\n",
    "body is no hex": head + "\nzz" + body[2:],
    "body of one part": head + "\n616263\n",
    "inner is no hex": head + "\n7a7a0a7a7a0a7a7a\n",
    "changed": head + "\n" + body[:-4] + ("30" if body[-4:-2] != "30" else "31") + "\n",
    "wrong version": whole.replace("1.1", "9.9"),
    "line ends of Windows": whole.replace("\n", "\r\n"),
    "blanks in the header": whole.replace(";AES256", "; AES256 "),
    "other id": whole.replace("1.1;AES256", "1.2;AES256;other"),
    "not ascii": whole + "ü",
}
with open(os.path.join(here, 'errors.jsonl'), 'w') as f:
    for name, text in cases.items():
        for secrets in ([], [('default', VaultSecret(b'right'))], [('default', VaultSecret(b'wrong'))]):
            for file in ("/f.yml",) if secrets else (None, "/f.yml"):
                try:
                    got = "plain: " + VaultLib(secrets).decrypt(text, filename=file).decode()
                except Exception as e:
                    got = "error: %s" % e
                f.write(json.dumps({"name": name, "text": text, "passwords": [s.bytes.decode() for _, s in secrets], "file": file or "", "want": got}) + "\n")
