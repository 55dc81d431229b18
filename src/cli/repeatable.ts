/** An option that may be given several times; without it there are none. */
import { Option } from 'commander';

export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description)
    .argParser((value: string, former: readonly string[]) => [...former, value])
    .default([], 'none');
}
