/** The routes under `/api/v1/prices` for what the operator declares and looks up. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import { DECLARATION_KINDS } from '../../prices/declared/declaration.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { addPriceCatalogRoutes } from './prices-catalog-resource.ts';
import { addPriceChangeRoutes } from './prices-changes-resource.ts';
import { addDeclarationRoutes } from './prices-declarations-resource.ts';
import { addPricePreviewRoutes } from './prices-preview-resource.ts';
import { addPriceRowsRoutes } from './prices-rows-resource.ts';
import { addPriceStatusRoute } from './prices-status-resource.ts';
import { addUnpricedRoutes } from './prices-unpriced-resource.ts';

export function addPriceRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  for (const kind of DECLARATION_KINDS) addDeclarationRoutes(app, deps, kind);
  addPricePreviewRoutes(app, deps);
  addPriceChangeRoutes(app, deps);
  addPriceRowsRoutes(app, deps);
  addUnpricedRoutes(app, deps);
  addPriceCatalogRoutes(app, deps);
  addPriceStatusRoute(app, deps);
}
