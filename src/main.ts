/** The command line and the hidden commands of the children. Each command loads its own code only. */
import { enableCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { untilSettled } from './cli/until-settled.ts';
import type { CreateNodeFace } from './control/process/node-face.ts';
import type { ConfigFlags } from './vocabulary/config.ts';
import { OperatorError } from './vocabulary/errors.ts';
import { readVersion } from './vocabulary/version.ts';

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
    .option('--search <on|off>', 'keep their text, to be searched and listed (TOLLGATE_SEARCH, on)')
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
    .action(async (flags: ConfigFlags) => (await import('./start.ts')).start(flags, import.meta.filename));
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

/** The help of each command, for a clone without installed modules (`npm run help` writes it). */
async function listHelp(): Promise<Readonly<Record<string, string>>> {
  const { addCommands } = await import('./cli/commands.ts');
  const program = await createProgram();
  await addCommands(program, '');
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
  const { runControlProcess } = await import('./control/process/control-process.ts');
  await runControlProcess({
    connectToSupervisor: (await import('./supervisor/child-channel.ts')).connectToSupervisor,
    createLog: (await import('./vocabulary/log.ts')).createLog,
    createFace,
    openPrices: async () => (await import('./control/prices/declared/current-price-book.ts')).createCurrentPriceBook(),
  });
}

/** Commands for the supervisor and our own scripts, so `--help` does not list them. */
const CHILDREN: Readonly<Record<string, () => Promise<void>>> = {
  'internal-proxy': async () => {
    const { connectToSupervisor } = await import('./supervisor/child-channel.ts');
    const { runProxyProcess } = await import('./proxy/proxy-process.ts');
    runProxyProcess(connectToSupervisor());
  },
  'internal-control': async () => runControl((await import('./control/process/for-all-nodes.ts')).workForAllNodes),
  'internal-node': async () => runControl((await import('./control/process/for-own-proxies.ts')).workForOwnProxies),
  'internal-help': async () => {
    process.stdout.write(`${JSON.stringify(await listHelp(), null, 2)}\n`);
  },
  'internal-demo': async () => {
    const { connectToSupervisor } = await import('./supervisor/child-channel.ts');
    const { runDemoProcess } = await import('./demo/demo-process.ts');
    runDemoProcess(connectToSupervisor());
  },
};

async function main(): Promise<void> {
  const name = process.argv[2] ?? '';
  const runChild = Object.hasOwn(CHILDREN, name) ? CHILDREN[name] : undefined;
  if (runChild !== undefined) return runChild();
  // A short command spends most of its time compiling, and a supervisor keeps the room that it takes.
  enableCompileCache(join(dirname(import.meta.dirname), 'node_modules', '.cache', 'tollgate'));
  const program = await createProgram();
  if (!program.commands.some((command) => command.name() === name)) {
    const { addCommands } = await import('./cli/commands.ts');
    await addCommands(program, name);
  }
  await program.parseAsync();
}

untilSettled(main).catch(async (error: unknown) => {
  const isExpected = error instanceof OperatorError;
  const { withOwnCommands } = await import('./cli/hints.ts');
  const text = isExpected
    ? withOwnCommands(error.message)
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
  process.stderr.write(`tollgate: ${text}\n`);
  process.exit(1);
});
