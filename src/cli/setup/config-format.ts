/** The contract of a kind of configuration file: values are set and taken out, and everything else stays as it was. */
import type { z } from 'zod';

export type Json = z.core.util.JSONType;

/** A member by its name; or that member of a list which has these members itself. */
export type Segment = string | Readonly<Record<string, string>>;
export type Path = readonly Segment[];

/** Where a value is in a parsed file: by names and places. */
export type Place = readonly (string | number)[];

export interface ConfigFormat {
  /** Null for a file without a value. Throws on what is no such file. */
  readonly parse: (text: string) => Json;
  /** `value` undefined takes the value out. What the place lies in exists, or is made as members by name. */
  readonly set: (text: string, place: Place, value: Json | undefined) => string;
}
