"""Machines that are namespaces of this one: each has a network, a name, a folder /var/tmp and an ssh server of its own, and is
joined to the others by a bridge. For tests and benchmarks of --hosts; as root, where sshd is: FLOW_SSHD, the system's, or one that
`dpkg -x` has put below build/sshd, with its libraries."""
import atexit
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

NET = "10.213.7."
APART = pathlib.Path(__file__).resolve().parent.parent / "build/sshd"


def sshd():
    """Where the server is; None: nowhere."""
    found = os.environ.get("FLOW_SSHD") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin") or shutil.which("sshd", path=APART / "usr/sbin")
    return found and os.path.realpath(found)


def lacks():
    """What is missing of what they need, or ""."""
    if not sshd():
        return "sshd (apt install openssh-server, or apt-get download openssh-server libwrap0 and dpkg -x of both into build/sshd)"
    for program in ("ssh", "ip", "tc", "unshare", "nsenter", "ssh-keygen"):
        if not shutil.which(program):
            return program
    if os.getuid() != 0:
        return "root"
    return "" if subprocess.run(["unshare", "-n", "-u", "-m", "true"], capture_output=True).returncode == 0 else "namespaces"


class Hosts:
    """Names -> machines. words(name) is what stands before a command that is to run there. `mbit`: what each link carries a second, each
    way; None: what it can."""

    def __init__(self, *names, mbit=None):
        self.mbit = mbit
        self.names, self.pids, self.servers = names, {}, []
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="flow-hosts-"))
        self.place.chmod(0o755)
        self.mark = f"fl{os.getpid()}"
        atexit.register(self.end)
        self.write_files()
        subprocess.run(["ip", "netns", "add", f"{self.mark}sw"], check=True)
        self.ip(f"{self.mark}sw", "link", "add", "name", "bridge0", "type", "bridge")
        self.ip(f"{self.mark}sw", "link", "set", "bridge0", "up")
        for k, name in enumerate(names):
            self.start(k, name)

    def ip(self, where, *words):
        subprocess.run(["ip", "-n", where, *words], check=True)

    def address(self, name):
        return f"{NET}{self.names.index(name) + 1}"

    def write_files(self):
        place = self.place
        for key in ("id", "server"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / key], check=True)
        (place / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{self.address(n)} {n}\n" for n in self.names))
        (place / "authorized").write_text((place / "id.pub").read_text())
        (place / "sshd_config").write_text(
            f"HostKey {place}/server\nAuthorizedKeysFile {place}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n"
            "PasswordAuthentication no\nPermitRootLogin yes\nMaxStartups 100\n")
        (place / "ssh_config").write_text(
            f"IdentityFile {place}/id\nIdentitiesOnly yes\nUserKnownHostsFile {place}/known\nStrictHostKeyChecking no\nLogLevel ERROR\n")
        users = pathlib.Path("/etc/passwd").read_text()  # a server that was not installed has no user
        if "\nsshd:" not in users:
            users += "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n"
        (place / "home").mkdir()  # with no profile: what a user's own says is not of the tests
        (place / "home/.bashrc").write_text("")
        (place / "passwd").write_text(re.sub(r"^(root:(?:[^:\n]*:){4})[^:\n]*:", rf"\1{place}/home:", users, flags=re.M))
        (place / "bin").mkdir()
        (place / "bin/ssh").write_text(f"#!/bin/sh\nexec {shutil.which('ssh')} -F {place}/ssh_config \"$@\"\n")
        (place / "bin/ssh").chmod(0o755)

    def start(self, k, name):
        at, link = f"{self.mark}h{k}", f"{self.mark}v{k}"
        subprocess.run(["ip", "netns", "add", at], check=True)
        subprocess.run(["ip", "link", "add", link, "netns", f"{self.mark}sw", "type", "veth", "peer", "name", "eth0", "netns", at], check=True)
        self.ip(f"{self.mark}sw", "link", "set", link, "master", "bridge0", "up")
        self.ip(at, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
        self.ip(at, "link", "set", "eth0", "up")
        self.ip(at, "link", "set", "lo", "up")
        self.limit(at, "eth0")
        self.limit(f"{self.mark}sw", link)
        text = (f"hostname {name}; mount -t tmpfs tmpfs /var/tmp; mount -t tmpfs tmpfs /run; mkdir /run/sshd; "
                f"mount --bind {self.place}/hosts /etc/hosts; mount --bind {self.place}/passwd /etc/passwd; "
                f"export LD_LIBRARY_PATH={APART}/usr/lib/{os.uname().machine}-linux-gnu; exec {sshd()} -D -e -f {self.place}/sshd_config")
        self.servers.append(subprocess.Popen(["ip", "netns", "exec", at, "unshare", "-u", "-m", "sh", "-c", text], stdout=subprocess.DEVNULL,
                                             stderr=open(self.place / f"sshd.{name}", "w"), stdin=subprocess.DEVNULL))
        self.pids[name] = self.servers[-1].pid
        until = time.time() + 20
        while time.time() < until and subprocess.run([*self.words(name), "sh", "-c", f"test $(uname -n) = {name} && ssh -G x >/dev/null && "
                                                      "exec 3<>/dev/null && test -e /run/sshd"], capture_output=True).returncode:
            time.sleep(0.1)

    def limit(self, where, device):
        """What leaves by the device; a packet of what veth calls one is up to 64 KiB."""
        if self.mbit:
            subprocess.run(["tc", "-n", where, "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{self.mbit}mbit", "burst", "128kb",
                            "latency", "50ms"], check=True)

    def words(self, name):
        return ["nsenter", "-t", str(self.pids[name]), "-n", "-u", "-m", "--wd=."]

    def environment(self, env):
        return dict(env, PATH=f"{self.place}/bin:{env['PATH']}")

    def end(self):
        for server in self.servers:
            server.send_signal(signal.SIGTERM)
        for server in self.servers:
            server.wait()
        for k in range(len(self.names)):
            subprocess.run(["ip", "netns", "del", f"{self.mark}h{k}"], capture_output=True)
        subprocess.run(["ip", "netns", "del", f"{self.mark}sw"], capture_output=True)
        shutil.rmtree(self.place, ignore_errors=True)
