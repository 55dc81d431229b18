/** Reads the nodes that share the database; none from an older gateway without nodes. */
import type { z } from 'zod';
import { OperatorError } from '../vocabulary/errors.ts';
import type { GatewayClient } from './gateway-client.ts';
import { Nodes } from './judge-nodes.ts';

export async function readNodes(client: GatewayClient): Promise<z.infer<typeof Nodes>> {
  try {
    return await client.ask(Nodes, '/api/v1/nodes');
  } catch (error) {
    if (error instanceof OperatorError && error.message.startsWith('There is nothing at')) return { data: [] };
    throw error;
  }
}
