/** The commands that talk to a running gateway through its admin API. `start` and its children are in `main`. */
import type { Command } from 'commander';
import { addBackupCommand } from './backup/backup-command.ts';
import { addRestoreCommand } from './backup/restore-command.ts';
import { addCostsCommand } from './costs-command.ts';
import { addDemoCommands } from './demo-commands.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { addExportCommand } from './export-command.ts';
import { addJobsCommands } from './jobs-commands.ts';
import { addKeysCommands } from './keys-commands.ts';
import { addLoginCommand } from './login-command.ts';
import { addLogsCommand } from './logs-command.ts';
import { addMetadataCommands } from './metadata-commands.ts';
import { addNodesCommands } from './nodes-commands.ts';
import { addPriceCommand } from './prices/price-command.ts';
import { addPricesCommands } from './prices/prices-command.ts';
import { addRepriceCommand } from './prices/reprice-command.ts';
import { addQuarantineCommand } from './quarantine-command.ts';
import { addReconcileCommand } from './reconcile/reconcile-command.ts';
import { addRestartCommand } from './restart-command.ts';
import { addRunsCommand } from './runs-command.ts';
import { addSettingsCommands } from './settings-commands.ts';
import { addSpoolCommands } from './spool-commands.ts';
import { addSqlCommand } from './sql-command.ts';
import { addServiceCommands } from './systemd/service-commands.ts';
import { addTlsCommands } from './tls/tls-commands.ts';
import { addVerifyCommand } from './verify-command.ts';

/** Lists under `--json` are one object a line. */
function addClientOptions(command: Command): Command {
  return command
    .option('--json', 'for programs: JSON, one object a line')
    .option('--data-dir <path>', "the gateway's data directory (TOLLGATE_DATA_DIR)")
    .option('--url <url>', 'the admin address, when the gateway runs elsewhere (TOLLGATE_ADMIN_URL)')
    .option('--token <token>', 'its admin token (better: TOLLGATE_ADMIN_TOKEN or TOLLGATE_ADMIN_TOKEN_FILE)');
}

export function addCommands(program: Command): void {
  addLoginCommand(program, addClientOptions);
  addKeysCommands(program, addClientOptions);
  addLogsCommand(program, addClientOptions);
  addRunsCommand(program, addClientOptions);
  addCostsCommand(program, addClientOptions);
  addPricesCommands(program, addClientOptions);
  addReconcileCommand(program, addClientOptions);
  addPriceCommand(program, addClientOptions);
  addRepriceCommand(program, addClientOptions);
  addDemoCommands(program, addClientOptions);
  addMetadataCommands(program, addClientOptions);
  addJobsCommands(program, addClientOptions);
  addExportCommand(program, addClientOptions);
  addBackupCommand(program, addClientOptions);
  addRestoreCommand(program, addClientOptions);
  addDoctorCommand(program, addClientOptions);
  addQuarantineCommand(program, addClientOptions);
  addNodesCommands(program, addClientOptions);
  addSettingsCommands(program, addClientOptions);
  addSpoolCommands(program, addClientOptions);
  addRestartCommand(program, addClientOptions);
  addSqlCommand(program, addClientOptions);
  addVerifyCommand(program, addClientOptions);
  addServiceCommands(program);
  addTlsCommands(program);
}
