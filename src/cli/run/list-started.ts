/**
 * Which clients a command starts, as far as its words tell: itself, or behind `npx`, `timeout 60`, `sh -c` and whatever else
 * starts programs. A word too many is read as a client rather than one too few: its files then only leave an address alone,
 * while a file that is not read may have a key for another server. Pure.
 */
import { basename } from 'node:path';

export interface StartedClient<Client> {
  readonly client: Client;
  readonly args: readonly string[];
}

/** The next word is a text for a shell. */
const TAKES_COMMANDS = /^(?:-[a-z]*c|--call)$/;
/** What is behind a script is its own. */
const SCRIPT = /\.(?:py|[cm]?[jt]sx?|sh|rb|php|pl)$/;

/** Without its folder, and as a package without its version: `@openai/codex@latest`, `aider-chat==0.86`. */
function namesOf(word: string): readonly string[] {
  return [basename(word).replace(/\.(?:exe|cmd|[cm]?js)$/, ''), word.replace(/(?<=.)(?:@|==).*$/, '')];
}

/** The commands of a shell's text, each as its words. Quotes hold words together; what they quote is not looked into. */
function splitShell(text: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  for (const [token, word] of text.matchAll(/((?:[^\s;&|()'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+)|[;&|()\n]/g)) {
    if (word === undefined) commands.push([]);
    else commands.at(-1)?.push(token.replace(/['"]/g, ''));
  }
  return commands;
}

/** `find`: the client of a word by one of its names. */
export function listStarted<Client>(
  command: readonly string[],
  find: (names: readonly string[]) => Client | undefined,
): readonly StartedClient<Client>[] {
  for (const [at, word] of command.entries()) {
    if (TAKES_COMMANDS.test(command[at - 1] ?? ''))
      return splitShell(word).flatMap((words) => listStarted(words, find));
    const client = find(namesOf(word));
    if (client !== undefined) return [{ client, args: command.slice(at + 1) }];
    if (SCRIPT.test(word)) return [];
  }
  return [];
}
