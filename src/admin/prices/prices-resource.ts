/** The routes under `/api/v1/prices` for what the operator declares and looks up; each resource is a file of its own. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { AdminDeps } from '../admin-deps.ts';
import { addPriceCatalogRoutes } from './prices-catalog-resource.ts';
import { addPriceChangeRoutes } from './prices-changes-resource.ts';
import { addPriceMappingRoutes } from './prices-mappings-resource.ts';
import { addPriceMultiplierRoutes } from './prices-multipliers-resource.ts';
import { addPriceOverrideRoutes } from './prices-overrides-resource.ts';
import { addPricePreviewRoutes } from './prices-preview-resource.ts';
import { addPriceRowsRoutes } from './prices-rows-resource.ts';
import { addPriceStatusRoute } from './prices-status-resource.ts';
import { addUnpricedRoutes } from './prices-unpriced-resource.ts';

export function addPriceRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  addPriceOverrideRoutes(app, deps);
  addPriceMappingRoutes(app, deps);
  addPriceMultiplierRoutes(app, deps);
  addPricePreviewRoutes(app, deps);
  addPriceChangeRoutes(app, deps);
  addPriceRowsRoutes(app, deps);
  addUnpricedRoutes(app, deps);
  addPriceCatalogRoutes(app, deps);
  addPriceStatusRoute(app, deps);
}
