/** The client commands as a program of their own, as `main` runs them. Used by tests only. */
import { Command } from 'commander';
import { addCommands } from '../../src/cli/commands.ts';
import { OperatorError } from '../../src/errors.ts';

const program = new Command('tollgate');
addCommands(program);
program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`tollgate: ${error instanceof OperatorError ? error.message : String(error)}\n`);
  process.exit(error instanceof OperatorError ? 1 : 70);
});
