/** `tollgate service install|uninstall`: the gateway as a systemd service. */
import { existsSync, statSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { OperatorError } from '../../vocabulary/errors.ts';
import { confirm } from '../confirm.ts';
import { createOutput } from '../output.ts';
import { planInstall, planUninstall, type Step } from './install-steps.ts';
import { readInstalledOptions } from './installed-options.ts';
import { createMachine } from './machine.ts';
import { findPlaces, listServiceFiles, type ServiceOptions } from './service-files.ts';
import { type Program, USUAL_USER } from './unit-text.ts';

interface InstallFlags {
  readonly print?: true;
  readonly user?: string;
  readonly name?: string;
  readonly dataDir?: string;
  readonly settings?: string;
  readonly replace?: true;
  readonly yes?: true;
}

interface UninstallFlags {
  readonly name?: string;
  readonly yes?: true;
}

const OTHERS_MAY_PASS = 0o001;
/** `ProtectHome` hides these from a service. */
const HIDDEN = /^\/(?:home|root|run\/user)(?:\/|$)/;
/** `PrivateTmp` gives a service its own, which vanish with it. */
const FLEETING = /^\/(?:var\/)?tmp(?:\/|$)/;

function readName(name: string | undefined): string | null {
  if (name === undefined) return null;
  if (!/^[a-z0-9][a-z0-9_-]{0,30}$/.test(name) || name === 'tollgate')
    throw new OperatorError(
      '--name: small letters, digits, "-" and "_", at most 31, and not "tollgate": the service is then tollgate@NAME',
    );
  return name;
}

function readUser(user: string): string {
  if (/^[a-z_][a-z0-9_-]{0,30}$/.test(user) && user !== 'root') return user;
  throw new OperatorError('--user: a name of small letters, digits, "-" and "_", at most 31, and not root');
}

/** Units give blanks, quotes and `%` a meaning, so paths with them are refused. */
function readPath(what: string, path: string): string {
  const whole = resolve(path);
  if (/^\/[\w./@+-]+$/.test(whole)) return whole;
  throw new OperatorError(
    `${what}: ${JSON.stringify(whole)} has characters that do not fit into a unit; take another place`,
  );
}

function readDataDir(path: string): string {
  const whole = readPath('--data-dir', path);
  if (!HIDDEN.test(whole) && !FLEETING.test(whole)) return whole;
  throw new OperatorError(
    `--data-dir: no service may look into ${whole}, nor into other home directories and /tmp; take another place`,
  );
}

/** The service runs this very program, so the service's user must reach it. */
function findProgram(): Program {
  const entry = join(import.meta.dirname, '..', '..', `main${extname(import.meta.filename)}`);
  return { node: readPath('the program', process.execPath), entry: readPath('the program', entry) };
}

function requireReach(path: string): void {
  if (HIDDEN.test(path))
    throw new OperatorError(
      `${path} is in a home directory, where no service may look: install the program elsewhere, in /opt say`,
    );
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
    if ((statSync(folder).mode & OTHERS_MAY_PASS) === 0)
      throw new OperatorError(
        `${folder} is closed to other users, so the service could not run ${path}: chmod o+x ${folder}`,
      );
  }
}

function requireSystemd(): void {
  if (!existsSync('/run/systemd/system'))
    throw new OperatorError('systemd does not run here; `tollgate service install --print` shows the files');
  if (process.getuid?.() !== 0) throw new OperatorError('only root may do this: put sudo before it');
}

async function carryOut(steps: readonly Step[], isAsked: boolean): Promise<boolean> {
  for (const { what } of steps) process.stderr.write(`  ${what}\n`);
  if (isAsked && !(await confirm('Do this?', 'add --yes if you mean it'))) {
    process.stderr.write('Nothing was changed.\n');
    return false;
  }
  for (const step of steps) step.run();
  return true;
}

async function install(flags: InstallFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const machine = createMachine();
  const name = readName(flags.name);
  const installed = readInstalledOptions(name, machine.root);
  const options: ServiceOptions = {
    name,
    program: findProgram(),
    user: flags.user === undefined ? (installed.user ?? USUAL_USER) : readUser(flags.user),
    dataDir: flags.dataDir === undefined ? installed.dataDir : readDataDir(flags.dataDir),
    envFile: flags.settings === undefined ? installed.envFile : readPath('--settings', flags.settings),
  };
  if (flags.print) {
    for (const { path, text } of listServiceFiles(options, machine)) await output.line(`# ${path}\n${text}`);
    return;
  }
  requireSystemd();
  requireReach(options.program.node);
  requireReach(options.program.entry);
  const { unit, envFile, dataDir } = findPlaces(options.name, options.envFile, options.dataDir);
  const steps = planInstall(options, machine, flags.replace === true);
  if (steps.length === 0) return output.line(`Everything is as it should be: systemctl status ${unit}`);
  if (!(await carryOut(steps, flags.yes !== true))) return;
  const where = dataDir === '/var/lib/tollgate' ? '' : ` --data-dir ${dataDir}`;
  await output.line(`Done. Next:
  1. settings:  ${envFile}
  2. start:     sudo systemctl enable --now ${unit}     (when it runs already: sudo systemctl restart ${unit})
  3. a key:     sudo tollgate keys create NAME${where}
  4. look:      systemctl status ${unit};  sudo journalctl -u ${unit};  sudo tollgate doctor${where}`);
}

async function uninstall(flags: UninstallFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const name = readName(flags.name);
  requireSystemd();
  const machine = createMachine();
  const installed = readInstalledOptions(name, machine.root);
  const { unit, configDir, envFile, dataDir } = findPlaces(name, installed.envFile, installed.dataDir);
  const steps = planUninstall(name, machine);
  if (steps.length === 0) throw new OperatorError(`there is no service ${unit}`);
  if (!(await carryOut(steps, flags.yes !== true))) return;
  await output.line(`Done. Settings (${configDir}, ${envFile}), data (${dataDir}) and the user are still there.`);
}

export function addServiceCommands(program: Command): void {
  const service = program.command('service').description('the gateway as a service of systemd, hardened');
  service
    .command('install')
    .description(
      'write unit, user, folders and a file for the settings; it shows what it will do, and asks. What an earlier one was told stays',
    )
    .option('--print', 'print the files and change nothing; works without root and without systemd')
    .option('--user <name>', 'the system user that it runs as; made when there is none (tollgate)')
    .option(
      '--name <name>',
      'one of several on this machine: the service tollgate@NAME, with settings and data of its own',
    )
    .option('--data-dir <path>', 'where everything is kept (/var/lib/tollgate, or /var/lib/tollgate-NAME)')
    // Node takes --env-file for itself wherever it stands.
    .option('--settings <path>', 'the file with its settings (/etc/tollgate/tollgate.env, or NAME.env)')
    .option('--replace', 'also replace files that were edited; they are kept as *.old')
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  sudo tollgate service install && sudo systemctl enable --now tollgate')
    .action((flags: InstallFlags) => install(flags));
  service
    .command('uninstall')
    .description('stop the service and remove its unit; settings, data and user stay')
    .option('--name <name>', 'the service tollgate@NAME')
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  sudo tollgate service uninstall')
    .action((flags: UninstallFlags) => uninstall(flags));
}
