/** The contract of a client that the variables of its SDKs are not enough for; one small file each. */
import type { Environment } from '../../../vocabulary/config.ts';
import type { KnownAddress } from '../../address-owner.ts';
import type { BaseVariables, FileVariables } from '../base-variables.ts';

/** Where the program's calls are to go. The token is in `address`, and alone in the variable that is named here. */
export const RUN_TOKEN_VARIABLE = 'TOLLGATE_RUN_TOKEN';
export const RUN_ADDRESS_VARIABLE = 'TOLLGATE_BASE_URL';

export interface RunPlace {
  /** The gateway's with the token in it. */
  readonly address: string;
  readonly token: string;
  /** The gateway's without it, for arguments, which other users of the machine can read. */
  readonly origin: string;
  readonly env: Environment;
  /** The program's own arguments. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly home: string;
  readonly traceId: string;
  /** A folder of the user's own for files that clients are given. */
  readonly ownDir: string;
  /** Whose an address in a file is; null where none is said. What is `foreign` stays as it is, and is told. */
  readonly addressOf: (address: unknown) => KnownAddress | null;
}

export interface LedPlace extends RunPlace {
  /** What the variables are, those of the client's files included. */
  readonly base: BaseVariables;
}

export interface Additions {
  readonly env?: Readonly<Record<string, string>>;
  /** In front of the program's own arguments. */
  readonly args?: readonly string[];
  /** Written for this start; they go when it ends. */
  readonly files?: readonly string[];
  /** What leads elsewhere, and stays as it is. */
  readonly left?: readonly string[];
  /** For the user, before the start. */
  readonly note?: string;
}

export interface RunClient {
  /** Names of its program, without the folder. */
  readonly programs: readonly string[];
  /** The package that `npx` or `uvx` starts it from. */
  readonly packageName: string;
  /** Base variables that its own files set. */
  readonly readVariables?: (place: RunPlace) => FileVariables;
  /** They include every `.env` that it reads. */
  readonly hasOwnEnvFiles?: true;
  readonly add: (place: LedPlace) => Additions;
}
