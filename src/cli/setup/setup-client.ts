/** The contract of a client that can be set up for good: which values of which files lead it to the gateway. One small file each. */
import type { Environment } from '../../vocabulary/config.ts';
import type { KnownAddress } from '../address-owner.ts';
import type { Json } from './config-format.ts';
import type { Edit } from './edit-text.ts';

export type FormatName = 'json' | 'toml' | 'yaml' | 'env' | 'whole';

export interface SetupPlace {
  /** The gateway's address, without a slash at its end. */
  readonly origin: string;
  readonly key: string;
  readonly home: string;
  readonly env: Environment;
  /** For files that are the gateway's own: in the user's home, and readable by the user alone. */
  readonly ownDir: string;
  readonly hasFile: (path: string) => boolean;
  /** What a file holds without our changes; null where it is not there, or empty. */
  readonly read: (path: string, format: FormatName) => Json;
  /** Whose an address is that stands in a file; null where none is said. */
  readonly addressOf: (address: unknown) => KnownAddress | null;
}

export interface FileEdit {
  readonly path: string;
  readonly format: FormatName;
  readonly edits: readonly Edit[];
  /** Parts of the file that lead elsewhere, and stay as they are: their credentials are for that server. */
  readonly left?: readonly string[];
  /** Addresses of such servers that are replaced, where a client has one address alone. The credential may stay. */
  readonly replaced?: readonly string[];
}

export interface SetupClient {
  /** As its users call the program. */
  readonly name: string;
  readonly title: string;
  /** The key stands in its addresses: it has no header that goes with the led ones alone. */
  readonly hasKeyInAddress?: true;
  readonly listFiles: (place: SetupPlace) => readonly FileEdit[];
  /** What the user has to know or do. */
  readonly notes?: readonly string[];
}
