/** `tollgate prices …`: its subcommands, each in a file of its own. */
import type { Command } from 'commander';
import { addCatalogCommands } from './catalog-commands.ts';

export function addPricesCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  const prices = program.command('prices').description('what calls are priced with, and how fresh it is');
  addCatalogCommands(prices, addClientOptions);
}
