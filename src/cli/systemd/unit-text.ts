/** The text of the systemd unit and of the drop-in with this machine's differences. */
import { createHash } from 'node:crypto';

export interface Program {
  /** The Node binary and `main`: absolute paths without blanks. */
  readonly node: string;
  readonly entry: string;
}

export interface UnitOptions {
  readonly program: Program;
  readonly isTemplate: boolean;
}

export const USUAL_USER = 'tollgate';

/** A checksum in the first line tells an edited file. */
export function signText(text: string): string {
  const sum = createHash('sha256').update(text).digest('hex');
  return `# Written by "tollgate service install"; it replaces this file only while it is unedited. sha256: ${sum}\n${text}`;
}

export function isUnedited(signed: string): boolean {
  const lineEnd = signed.indexOf('\n');
  return lineEnd > 0 && signText(signed.slice(lineEnd + 1)) === signed;
}

export function formatUnit({ program, isTemplate }: UnitOptions): string {
  const folder = isTemplate ? 'tollgate-%i' : 'tollgate';
  const command = `${program.node} ${program.entry}`;
  return signText(`# Settings belong in /etc/tollgate/${isTemplate ? '%i' : 'tollgate'}.env, changes of this unit in \`systemctl edit\`.

[Unit]
Description=Tollgate, a gateway for language-model providers${isTemplate ? ' (%i)' : ''}
Wants=network-online.target
After=network-online.target nss-lookup.target postgresql.service
# It is never given up: what keeps it from starting, a database that is away say, may be over in an hour.
StartLimitIntervalSec=0

[Service]
# "Started" means that calls can be made. The gateway says so by systemd-notify, a child of its own.
Type=notify
NotifyAccess=all
User=${USUAL_USER}
UMask=0077
Environment=TOLLGATE_DATA_DIR=%S/${folder}
EnvironmentFile=-/etc/tollgate/${isTemplate ? '%i' : 'tollgate'}.env
StateDirectory=${folder}
StateDirectoryMode=0700
ConfigurationDirectory=tollgate
ConfigurationDirectoryMode=0750
SyslogIdentifier=%N

ExecStart=${command} start
# Replaces the processes one after another; no connection to the proxy is refused.
ExecReload=${command} restart
Restart=always
RestartSec=2
# The first start makes a database; a reload waits for the new processes.
TimeoutStartSec=11min
# 25 s more than TOLLGATE_STOP_DELAY_SECONDS and TOLLGATE_DRAIN_SECONDS by default. With longer ones the gateway asks
# systemd for the time that it needs.
TimeoutStopSec=60
# The gateway stops its processes in their order. Only what is left then is killed.
KillMode=mixed

# A process that ran out of memory is started again by the gateway, and the calls of the others go on.
OOMPolicy=continue
# For a machine that does other work, too: see "Sizes" in docs/server.md.
#MemoryHigh=1500M
#MemoryMax=2G
# A dump would hold prompts and keys.
LimitCORE=0
# Each process keeps up to 20,000 connections of clients, and as many to providers.
LimitNOFILE=65536

# It writes to its state directory, and nowhere else.
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateMounts=yes
PrivateDevices=yes
# It needs no privilege, and can get none.
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
PrivateUsers=yes
RestrictSUIDSGID=yes
RestrictNamespaces=yes
LockPersonality=yes
RestrictRealtime=yes
RemoveIPC=yes
KeyringMode=private
# The machine is as it is.
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
# Not MemoryDenyWriteExecute: the JavaScript engine writes machine code and runs it. Not ProcSubset=pid: which process
# owns the data directory is told by the boot id in /proc/sys, and memory by /proc/meminfo.

[Install]
WantedBy=multi-user.target
`);
}

export interface DropInOptions {
  readonly user: string;
  /** Settings in files of their own, by name; systemd reads them as root. */
  readonly credentials: readonly { readonly name: string; readonly path: string }[];
  /** Null: the state directory. */
  readonly dataDir: string | null;
  /** Null: the usual place. */
  readonly envFile: string | null;
  readonly hasLowPort: boolean;
}

/** Null when this machine has no differences. */
export function formatDropIn({ user, credentials, dataDir, envFile, hasLowPort }: DropInOptions): string | null {
  const service = [
    ...(user === USUAL_USER ? [] : [`User=${user}`]),
    ...(dataDir === null
      ? []
      : ['StateDirectory=', `Environment=TOLLGATE_DATA_DIR=${dataDir}`, `ReadWritePaths=${dataDir}`]),
    ...(envFile === null ? [] : ['EnvironmentFile=', `EnvironmentFile=-${envFile}`]),
    ...credentials.flatMap(({ name, path }) => [
      `LoadCredential=${name}:${path}`,
      // systemd before 250 lacks %d.
      `Environment=${name}_FILE=/run/credentials/%n/${name}`,
    ]),
    ...(hasLowPort
      ? [
          '# For a port below 1024. In a user namespace of its own the capability would be worth nothing.',
          'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
          'AmbientCapabilities=CAP_NET_BIND_SERVICE',
          'PrivateUsers=no',
        ]
      : []),
  ];
  if (service.length === 0) return null;
  const unit = dataDir === null ? '' : `[Unit]\nRequiresMountsFor=${dataDir}\n\n`;
  return signText(`${unit}[Service]\n${service.join('\n')}\n`);
}
