/** The command line: `start`, and the processes that it starts. What a process is made of is wired in its own file. */
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { formatBanner } from './banner.ts';
import type { ConfigFlags } from './config.ts';
import type { CreateNodeFace } from './control/node-face.ts';
import { OperatorError } from './errors.ts';
import { createLog } from './log.ts';
import { createOwnCommand } from './own-command.ts';
import { listExposureWarnings } from './settings/exposure.ts';
import { listSettings } from './settings/list-settings.ts';
import { adviseNoProxy } from './settings/no-proxy-advice.ts';
import { readConfig } from './settings/read-config.ts';
import { listUnknownSettings } from './settings/unknown-settings.ts';
import { connectToSupervisor } from './supervisor/child-channel.ts';
import { leaveReapingToShell } from './supervisor/reap-orphans.ts';
import { readVersion } from './version.ts';

async function start(flags: ConfigFlags): Promise<void> {
  const isReaped = leaveReapingToShell(process);
  // Only here: it brings a database driver and a schema library, 10 MB in each of the proxy processes.
  const { createSupervisor } = await import('./supervisor/supervisor.ts');
  const { runUntilSignal } = await import('./supervisor/run-until-signal.ts');
  const { createSystemdTeller, isStartedBySystemd } = await import('./supervisor/tell-systemd.ts');
  const config = readConfig(flags, process.env, isatty(0));
  const log = createLog({ level: config.logLevel, role: 'supervisor' });
  if (!isReaped)
    log.warn('process 1 here waits for no orphans: start the container with --init, or killed processes stay in it');
  for (const line of listUnknownSettings(process.env)) log.warn(line);
  for (const line of listExposureWarnings(config)) log.warn(line);
  const advice = adviseNoProxy(config.egress, process.env['ALL_PROXY'] ?? process.env['all_proxy']);
  if (advice !== null) log.warn(advice);
  // It is for this process alone: what runs below it has nothing to tell.
  const { NOTIFY_SOCKET, ...env } = process.env;
  const systemd = createSystemdTeller(NOTIFY_SOCKET, log);
  const isService = isStartedBySystemd(env, process.pid);
  const supervisor = createSupervisor({
    ...{ config, settings: listSettings(config, flags, process.env) },
    ...{ log, env, entry: fileURLToPath(import.meta.url) },
    // What a service or a pod prints is kept, for more people than may have a key.
    mayShowSecrets: !isService && env['KUBERNETES_SERVICE_HOST'] === undefined,
    onLost: () => process.exit(1),
  });
  const command = createOwnCommand({
    ...{ root: dirname(import.meta.dirname), isClone: import.meta.filename.endsWith('.ts'), isService },
    // npm runs its scripts in its own folder, and says where it was called.
    ...{ cwd: env['INIT_CWD'] ?? process.cwd(), hostname: hostname(), dataDir: config.dataDir, env },
  });

  await runUntilSignal(supervisor, log, {
    onReady: (gateway) => {
      process.stdout.write(formatBanner({ ...gateway, role: config.role, demo: config.demo, command }));
      const isTaking = config.role !== 'control';
      void systemd.ready(isTaking ? `calls are taken at ${gateway.proxyOrigin}` : 'dashboard and API are up'); // It never rejects.
    },
    onStopping: () => void systemd.stopping(config.stopDelaySeconds, config.drainSeconds),
  });
}

async function createProgram(): Promise<Command> {
  const { Command } = await import('commander');
  const program = new Command('tollgate')
    .description('A gateway for language-model providers: every call logged with its exact cost.')
    .version(readVersion(), '--version')
    .showHelpAfterError('(--help behind a command explains it; tollgate --help lists the commands)');
  program
    .command('start')
    .description('start the gateway: proxy, dashboard and database (settings: flags over environment over defaults)')
    .option('--role <all|proxy|control>', 'what this node does (TOLLGATE_ROLE, all)')
    .option('--host <address>', 'where the proxy listens (TOLLGATE_HOST, 127.0.0.1)')
    .option('--port <number>', 'its port (TOLLGATE_PORT, 4141)')
    .option('--admin-host <address>', 'where dashboard and API listen (TOLLGATE_ADMIN_HOST, 127.0.0.1)')
    .option('--admin-port <number>', 'their port (TOLLGATE_ADMIN_PORT, 4142)')
    .option('--admin-exposed', 'let other machines reach them without TLS (TOLLGATE_ADMIN_EXPOSED)')
    .option('--public-url <url>', 'the address that clients use (TOLLGATE_PUBLIC_URL)')
    .option('--tls-cert <file>', 'its certificate: the proxy speaks TLS (TOLLGATE_TLS_CERT)')
    .option('--tls-key <file>', 'the key of that certificate (TOLLGATE_TLS_KEY)')
    .option('--admin-public-url <url>', "the dashboard's own address (TOLLGATE_ADMIN_PUBLIC_URL)")
    .option('--trusted-proxies <list>', 'proxies in front that tell who a client is (TOLLGATE_TRUSTED_PROXIES)')
    .option('--data-dir <path>', 'where everything is kept (TOLLGATE_DATA_DIR)')
    .option('--workers <number>', 'proxy processes (TOLLGATE_WORKERS, half the cores, at most 4)')
    .option('--bodies <full|off>', 'keep requests and answers (TOLLGATE_BODIES, full)')
    .option('--client-address <keep|off>', "keep clients' addresses with their calls (TOLLGATE_CLIENT_ADDRESS, keep)")
    .option('--usage <ask|observe>', 'ask streams for their usage (TOLLGATE_USAGE, ask)')
    .option('--on-client-abort <cancel|drain>', 'when a client goes away (TOLLGATE_ON_CLIENT_ABORT, cancel)')
    .option('--on-revoke <finish|cut>', 'answers in progress of a key that ends (TOLLGATE_ON_REVOKE, finish)')
    .option('--estimates <on|off>', 'count what nobody reported, apart from all costs (TOLLGATE_ESTIMATES, on)')
    .option('--durability <process|power>', 'what a record survives (TOLLGATE_DURABILITY, process)')
    .option('--on-full <open|closed>', 'when a record cannot be kept: go on, or refuse (TOLLGATE_ON_FULL, open)')
    .option('--keep-alive-seconds <number>', 'for idle connections of clients (TOLLGATE_KEEP_ALIVE_SECONDS, 75)')
    .option('--drain-seconds <number>', 'how long open calls may run when it stops (TOLLGATE_DRAIN_SECONDS, 30)')
    .option(
      '--stop-delay-seconds <number>',
      'how long it serves on before (TOLLGATE_STOP_DELAY_SECONDS, 5; terminal: 0)',
    )
    .option('--price-feed <off|on|url>', 'fetch newer prices daily (TOLLGATE_PRICE_FEED, off)')
    .option('--retention-rows <days>', 'how long calls are kept (TOLLGATE_RETENTION_ROWS, 90)')
    .option('--retention-bodies <days>', 'how long bodies are kept (TOLLGATE_RETENTION_BODIES, 14)')
    .option('--log-level <debug|info|warn|error>', 'of the process log (TOLLGATE_LOG_LEVEL, info)')
    .option('--demo', 'add a local fake provider under the alias "demo"')
    .action((flags: ConfigFlags) => start(flags));
  program
    .command('version')
    .description('print the version')
    .option('--json', 'as JSON')
    .action(({ json }: { json?: boolean }) => {
      const versions = { tollgate: readVersion(), node: process.versions.node };
      process.stdout.write(json ? `${JSON.stringify(versions)}\n` : `tollgate ${versions.tollgate}\n`);
    });
  return program;
}

/** The help of each command by its words, for a clone that has nothing installed yet (`npm run help` writes it). */
async function listHelp(): Promise<Readonly<Record<string, string>>> {
  const { addCommands } = await import('./cli/commands.ts');
  const program = await createProgram();
  addCommands(program);
  const texts: Record<string, string> = {};
  const collect = (command: Command, words: readonly string[]) => {
    let text = '';
    command.configureOutput({ getOutHelpWidth: () => 100, writeOut: (part) => (text += part) }).outputHelp();
    texts[words.join(' ')] = text;
    for (const below of command.commands) collect(below, [...words, below.name()]);
  };
  collect(program, []);
  return texts;
}

async function runControl(createFace: CreateNodeFace): Promise<void> {
  const { runControlProcess } = await import('./control/control-process.ts');
  await runControlProcess({
    ...{ connectToSupervisor, createLog, createFace },
    openPrices: async (accountId) => (await import('./prices/current-price-book.ts')).createCurrentPriceBook(accountId),
  });
}

/** What the supervisor and our own scripts start: not for people, so not in `--help`. Each loads only its own code. */
const CHILDREN: Readonly<Record<string, () => Promise<void>>> = {
  'internal-proxy': async () => {
    const { runProxyProcess } = await import('./proxy/proxy-process.ts');
    runProxyProcess(connectToSupervisor());
  },
  'internal-control': async () => runControl((await import('./control/for-all-nodes.ts')).workForAllNodes),
  'internal-node': async () => runControl((await import('./control/for-own-proxies.ts')).workForOwnProxies),
  'internal-help': async () => {
    process.stdout.write(`${JSON.stringify(await listHelp(), null, 2)}\n`);
  },
  'internal-demo': async () => {
    const { runDemoProcess } = await import('./demo/demo-process.ts');
    runDemoProcess(connectToSupervisor());
  },
};

async function main(): Promise<void> {
  const name = process.argv[2] ?? '';
  const runChild = Object.hasOwn(CHILDREN, name) ? CHILDREN[name] : undefined;
  if (runChild !== undefined) return runChild();
  const program = await createProgram();
  // The client commands load an HTTP client and more, which `start` does without.
  if (!program.commands.some((command) => command.name() === name)) {
    const { addCommands } = await import('./cli/commands.ts');
    addCommands(program);
  }
  await program.parseAsync();
}

main().catch((error: unknown) => {
  const isExpected = error instanceof OperatorError;
  const text = isExpected ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`tollgate: ${text}\n`);
  process.exit(1);
});
