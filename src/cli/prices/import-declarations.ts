/**
 * A file of declared prices, as `tollgate prices list --json` prints them, or as one object with the three lists. They are
 * declared one by one; what stands there already in the same words stays, so that a second import changes nothing.
 */
import { z } from 'zod';
import { OperatorError } from '../../errors.ts';
import type { GatewayClient } from '../gateway-client.ts';
import { terminalText } from '../terminal-text.ts';

const KINDS = ['override', 'mapping', 'multiplier'] as const;
export type DeclaredKind = (typeof KINDS)[number];
const PATHS: Readonly<Record<DeclaredKind, string>> = {
  override: 'overrides',
  mapping: 'mappings',
  multiplier: 'multipliers',
};

export interface Declared {
  readonly kind: DeclaredKind;
  /** As the API takes it. */
  readonly body: Readonly<Record<string, z.core.util.JSONType>>;
}

const Fields = z.record(z.string(), z.json());
const Line = Fields.and(z.object({ kind: z.enum(KINDS) }));
const Lists = z.strictObject({
  overrides: z.array(Fields).default([]),
  mappings: z.array(Fields).default([]),
  multipliers: z.array(Fields).default([]),
});

/** What a list adds to a declaration is not declared. */
function toDeclared(kind: DeclaredKind, fields: z.infer<typeof Fields>): Declared {
  const { id: _id, created_at: _createdAt, kind: _kind, ...body } = fields;
  return { kind, body };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Null when the file is of another kind. */
export function readDeclarations(text: string): readonly Declared[] | null {
  const { success, data } = Lists.safeParse(parseJson(text));
  if (success) {
    const declared = [
      ...data.overrides.map((fields) => toDeclared('override', fields)),
      ...data.mappings.map((fields) => toDeclared('mapping', fields)),
      ...data.multipliers.map((fields) => toDeclared('multiplier', fields)),
    ];
    return declared.length === 0 ? null : declared;
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const parsed = lines.map((line) => Line.safeParse(parseJson(line)));
  if (lines.length === 0 || parsed.some(({ success }) => !success)) return null;
  return parsed.flatMap(({ data }) => (data === undefined ? [] : [toDeclared(data.kind, data)]));
}

export function describeDeclared({ kind, body }: Declared): string {
  const field = (name: string): string => {
    const value = body[name];
    return value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  };
  const what =
    kind === 'override'
      ? `${field('model')}${field('match') === 'prefix' ? '*' : ''} ${field('rates')}`
      : kind === 'mapping'
        ? `${field('model')}${field('match') === 'prefix' ? '*' : ''} -> ${field('billing_model')}`
        : `× ${field('factor')}`;
  const scope = ['provider_alias', 'service_tier', 'valid_from', 'valid_to'].map(field).filter((text) => text !== '');
  return terminalText(`${kind} ${field('provider')} ${what}${scope.length > 0 ? ` (${scope.join(', ')})` : ''}`);
}

/** Stops at the first that the gateway refuses, and says how many it has taken. */
export async function declareAll(client: GatewayClient, declared: readonly Declared[]): Promise<void> {
  for (const [index, declaration] of declared.entries())
    try {
      await client.ask(z.json(), `/api/v1/prices/${PATHS[declaration.kind]}`, {
        method: 'POST',
        body: declaration.body,
      });
    } catch (cause) {
      if (!(cause instanceof OperatorError)) throw cause;
      throw new OperatorError(
        `number ${index + 1}, ${describeDeclared(declaration)}: ${cause.message} (the ${index} before it are declared; after a correction import the file again)`,
        { cause },
      );
    }
}
