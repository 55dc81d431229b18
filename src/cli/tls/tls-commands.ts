/** `tollgate tls init`: certificates for clients that refuse plain HTTP, and how clients trust them. */
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { defaultDataDir } from '../../vocabulary/default-data-dir.ts';
import { repeatable } from '../command-options.ts';
import { createOutput } from '../output.ts';
import { quoteForShell } from '../terminal-text.ts';
import type { MadeTls } from './init-tls.ts';

interface InitFlags {
  readonly dir?: string;
  readonly name: readonly string[];
  readonly renew?: true;
}

function formatDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}

function* describe({ paths, names, validTo, authorityValidTo }: MadeTls, renews: boolean): Generator<string> {
  yield `Certificate for ${names.join(', ')}, until ${formatDay(validTo)}.`;
  yield renews
    ? 'A gateway that uses it takes it up within seconds; clients need nothing new.'
    : `Its authority, until ${formatDay(authorityValidTo)}, can vouch for nothing else. Keep ${paths.authorityKey} to yourself.`;
  if (renews) return;
  yield '';
  yield 'Where the gateway runs:';
  yield `  export TOLLGATE_TLS_CERT=${quoteForShell(paths.server)}`;
  yield `  export TOLLGATE_TLS_KEY=${quoteForShell(paths.serverKey)}`;
  yield '';
  yield 'Where its clients run (on other machines a copy of the file):';
  const clients = [
    [`SSL_CERT_FILE=${quoteForShell(paths.trusted)}`, 'Python: OpenAI, Anthropic, Google (httpx, websockets)'],
    [`REQUESTS_CA_BUNDLE=${quoteForShell(paths.trusted)}`, 'Python: requests'],
    [`AWS_CA_BUNDLE=${quoteForShell(paths.trusted)}`, 'Python: boto3; the AWS command line'],
    [`NODE_EXTRA_CA_CERTS=${quoteForShell(paths.authority)}`, 'Node'],
    [`CURL_CA_BUNDLE=${quoteForShell(paths.trusted)}`, 'curl; or --cacert'],
  ] as const;
  const width = Math.max(...clients.map(([variable]) => variable.length));
  for (const [variable, program] of clients) yield `  export ${variable.padEnd(width)}  # ${program}`;
}

async function init({ dir, name, renew }: InitFlags): Promise<void> {
  // Imported late, so that other commands do not load the certificate library.
  const { initTls } = await import('./init-tls.ts');
  const dataDir = process.env['TOLLGATE_DATA_DIR']?.trim() || defaultDataDir(process.env);
  const made = initTls({ dir: resolve(dir ?? join(dataDir, 'tls')), names: name, renews: renew === true });
  const output = createOutput(process.stdout);
  await output.lines(describe(made, renew === true));
}

export function addTlsCommands(program: Command): void {
  program
    .command('tls')
    .description('certificates for TLS on the proxy port')
    .command('init')
    .description('make a local authority and a certificate for this machine, and say how clients come to trust it')
    .option('--dir <path>', 'where to (tls in the data directory)')
    .addOption(repeatable('--name <host>', 'a further host or IP address that clients use; may be repeated'))
    .option('--renew', 'a new certificate by the same authority')
    .addHelpText('after', '\nExample:\n  tollgate tls init --name gateway.internal')
    .action((flags: InitFlags) => init(flags));
}
