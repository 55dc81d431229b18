/** Executes a question that was put together with Kysely, which only numbers the bound values. */
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type pg from 'pg';

export type Condition = RawBuilder<SqlBool>;

export type SqlRow = Readonly<Record<string, unknown>>;

function createCompiler(): Kysely<Record<string, never>> {
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

export function compileSql(query: RawBuilder<unknown>): { readonly text: string; readonly values: unknown[] } {
  const { sql: text, parameters } = query.compile(createCompiler());
  return { text, values: [...parameters] };
}

export async function runSql(client: pg.Pool | pg.ClientBase, query: RawBuilder<unknown>): Promise<readonly SqlRow[]> {
  const { text, values } = compileSql(query);
  const { rows } = await client.query<Record<string, unknown>>(text, values);
  return rows;
}

/** `conditions` is not empty. */
export function allOf(conditions: readonly Condition[]): Condition {
  return sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}
