/**
 * Reads `TOLLGATE_CREDENTIALS_KEY`, or the file of `TOLLGATE_CREDENTIALS_KEY_FILE`: the keys of kept credentials, the present one
 * first. A fault is no reason not to start: all calls that need no kept credential go on.
 */
import { readFileSync } from 'node:fs';
import type { Config, Environment } from '../../vocabulary/config.ts';
import { readErrorCode } from '../../vocabulary/errors.ts';

const NAME = 'TOLLGATE_CREDENTIALS_KEY';
const FORM = /^[A-Za-z\d+/_-]{43}=?$/;
const MAX_KEYS = 10;

export function readCredentialKeys(env: Environment): Config['credentialKeys'] {
  const direct = env[NAME]?.trim() ?? '';
  const file = env[`${NAME}_FILE`]?.trim() ?? '';
  if (direct !== '' && file !== '') return unusable(`${NAME} and ${NAME}_FILE are both set; set one of them`);
  if (file === '') return parse(direct, NAME);
  try {
    const text = readFileSync(file, 'utf8');
    return text.trim() === '' ? unusable(`${NAME}_FILE: the file is empty`) : parse(text, `${NAME}_FILE`);
  } catch (error) {
    return unusable(`${NAME}_FILE: cannot read the file (${readErrorCode(error) ?? 'unknown'})`);
  }
}

function unusable(problem: string): Config['credentialKeys'] {
  return { keys: [], problem };
}

function parse(text: string, name: string): Config['credentialKeys'] {
  const keys = text.split(/[\s,]+/).filter((key) => key !== '');
  const isGood = keys.length <= MAX_KEYS && keys.every((key) => FORM.test(key));
  if (isGood) return { keys, problem: null };
  return unusable(`${name}: each key is 32 random bytes in base64, such as \`openssl rand -base64 32\` prints`);
}
