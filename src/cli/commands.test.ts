import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addCommands } from './commands.ts';

test.each(['run', 'setup'])('%s, whose output is not for programs, takes no --json', async (word) => {
  const program = new Command('tollgate').exitOverride().configureOutput({ writeErr: () => {} });
  await addCommands(program, word);
  await expect(program.parseAsync([word, '--json', 'claude'], { from: 'user' })).rejects.toThrow(
    "unknown option '--json'",
  );
});
