/** All commands but `start` and `version`, which are in `main`. */
import type { Command } from 'commander';

/** `without json`: of a command whose output is not for programs. */
export type AddClientOptions = (command: Command, without?: 'json') => Command;
type AddCommand = (program: Command, addClientOptions: AddClientOptions) => void;

/** By first word, in the order of the help. Only the wanted command's file is loaded. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  login: async () => (await import('./login-command.ts')).addLoginCommand,
  run: async () => (await import('./run/run-command.ts')).addRunCommand,
  setup: async () => (await import('./setup/setup-command.ts')).addSetupCommand,
  keys: async () => (await import('./keys-commands.ts')).addKeysCommands,
  logs: async () => (await import('./logs-command.ts')).addLogsCommand,
  runs: async () => (await import('./runs-command.ts')).addRunsCommand,
  costs: async () => (await import('./costs-command.ts')).addCostsCommand,
  budgets: async () => (await import('./budgets-commands.ts')).addBudgetsCommands,
  brakes: async () => (await import('./brakes-commands.ts')).addBrakesCommands,
  alerts: async () => (await import('./alerts-commands.ts')).addAlertsCommands,
  prices: async () => (await import('./prices/prices-command.ts')).addPricesCommands,
  reconcile: async () => (await import('./reconcile/reconcile-command.ts')).addReconcileCommand,
  price: async () => (await import('./prices/price-command.ts')).addPriceCommand,
  reprice: async () => (await import('./prices/reprice-command.ts')).addRepriceCommand,
  demo: async () => (await import('./demo-commands.ts')).addDemoCommands,
  metadata: async () => (await import('./metadata-commands.ts')).addMetadataCommands,
  jobs: async () => (await import('./jobs-commands.ts')).addJobsCommands,
  export: async () => (await import('./export-command.ts')).addExportCommand,
  backup: async () => (await import('./backup/backup-command.ts')).addBackupCommand,
  restore: async () => (await import('./backup/restore-command.ts')).addRestoreCommand,
  doctor: async () => (await import('./doctor-command.ts')).addDoctorCommand,
  quarantine: async () => (await import('./quarantine-command.ts')).addQuarantineCommand,
  nodes: async () => (await import('./nodes-commands.ts')).addNodesCommands,
  settings: async () => (await import('./settings-commands.ts')).addSettingsCommands,
  spool: async () => (await import('./spool-commands.ts')).addSpoolCommands,
  restart: async () => (await import('./restart-command.ts')).addRestartCommand,
  mcp: async () => (await import('./mcp-command.ts')).addMcpCommand,
  limits: async () => (await import('./limits-commands.ts')).addLimitsCommands,
  'read-tokens': async () => (await import('./read-tokens-commands.ts')).addReadTokensCommands,
  share: async () => (await import('./share-commands.ts')).addShareCommands,
  accounts: async () => (await import('./accounts-commands.ts')).addAccountsCommands,
  people: async () => (await import('./people-commands.ts')).addPeopleCommands,
  tokens: async () => (await import('./tokens-commands.ts')).addTokensCommands,
  audit: async () => (await import('./audit-commands.ts')).addAuditCommands,
  erase: async () => (await import('./erase-commands.ts')).addEraseCommands,
  credentials: async () => (await import('./credentials-commands.ts')).addCredentialsCommands,
  sql: async () => (await import('./sql-command.ts')).addSqlCommand,
  verify: async () => (await import('./verify-command.ts')).addVerifyCommand,
  service: async () => (await import('./systemd/service-commands.ts')).addServiceCommands,
  tls: async () => (await import('./tls/tls-commands.ts')).addTlsCommands,
};

function addClientOptions(command: Command, without?: 'json'): Command {
  if (without !== 'json') command.option('--json', 'for programs: JSON, one object a line');
  return command
    .option('--data-dir <path>', "the gateway's data directory (TOLLGATE_DATA_DIR)")
    .option('--url <url>', 'the admin address, when the gateway runs elsewhere (TOLLGATE_ADMIN_URL)')
    .option('--token <token>', 'its admin token (better: TOLLGATE_ADMIN_TOKEN or TOLLGATE_ADMIN_TOKEN_FILE)')
    .option('--account <id>', 'whose log, keys and prices, where there are several accounts (TOLLGATE_ACCOUNT)');
}

/** Adds the commands that begin with `word`, or all of them for the help. */
export async function addCommands(program: Command, word: string): Promise<void> {
  const loads = Object.hasOwn(COMMANDS, word) ? [COMMANDS[word]] : Object.values(COMMANDS);
  for (const load of loads) {
    const add = await load?.();
    add?.(program, addClientOptions);
  }
}
