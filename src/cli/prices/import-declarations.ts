/** Imports declared prices from `tollgate prices list --json`. A second import changes nothing. */
import { z } from 'zod';
import { OperatorError } from '../../vocabulary/errors.ts';
import type { GatewayClient } from '../gateway-client.ts';
import { terminalText } from '../terminal-text.ts';
import { DECLARED_KINDS, type DeclaredKind, pathOf } from './declared-kinds.ts';

export interface Declared {
  readonly kind: DeclaredKind;
  readonly body: Readonly<Record<string, z.core.util.JSONType>>;
}

const Fields = z.record(z.string(), z.json());
const Line = Fields.and(z.object({ kind: z.enum(DECLARED_KINDS) }));
const Lists = z.strictObject({
  overrides: z.array(Fields).default([]),
  mappings: z.array(Fields).default([]),
  multipliers: z.array(Fields).default([]),
});

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

export function readDeclarations(text: string): readonly Declared[] | null {
  const { success, data } = Lists.safeParse(parseJson(text));
  if (success) {
    const declared = DECLARED_KINDS.flatMap((kind) =>
      data[`${kind}s` as const].map((fields) => toDeclared(kind, fields)),
    );
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

/** Stops at the first refusal and says how many were accepted. */
export async function declareAll(client: GatewayClient, declared: readonly Declared[]): Promise<void> {
  for (const [index, declaration] of declared.entries())
    try {
      await client.ask(z.json(), pathOf(declaration.kind), {
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
