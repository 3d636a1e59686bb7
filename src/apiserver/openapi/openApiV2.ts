/**
 * OpenAPI v2 ("swagger"): one document for a whole space, which kubectl before 1.27 and many tools read. Here are its parts, one
 * for each resource type and one for each definition of the catalog: pure functions, whose results callers keep.
 * @see https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v2
 */
import type { DescriptionsFile } from '../../../openapi/catalogFormat.ts'
import type { GroupVersionKind } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { TypeNames } from './modelName.ts'
import type { Operation, Parameter } from './operation.ts'
import { mayCreate, mayTakeLonger, operationsOf } from './operations.ts'
import { type Describe, pathsOf } from './paths.ts'
import type { SchemaDocument } from './schemaDocument.ts'
import { DefinitionWriter, type OwnDefinitions } from './writtenDefinitions.ts'

/** Common part of every document, whatever is served. */
export interface OpenApiV2Frame {
  swagger: '2.0'
  info: { title: string; version: string }
  securityDefinitions: Record<string, SchemaDocument>
  security: Record<string, string[]>[]
}

export interface OpenApiV2Part extends OwnDefinitions {
  paths: Record<string, SchemaDocument>
}

/** The paths of a type, and its definitions when they are not the catalog's. No other type has the same paths. */
export function openApiV2TypePart(type: ResourceType, catalog: Catalog): OpenApiV2Part {
  const writer = ownWriter(catalog)
  return part(writer, operationsOf(type), writer.addType(type))
}

/** Paths that are about no resource. */
export function openApiV2PathsPart(operations: Iterable<Operation>, catalog: Catalog): OpenApiV2Part {
  return part(ownWriter(catalog), operations)
}

/** Texts belong to the definitions of the catalog, which have parts of their own. */
function ownWriter(catalog: Catalog): DefinitionWriter {
  return new DefinitionWriter(catalog, {}, 'v2')
}

function part(writer: DefinitionWriter, operations: Iterable<Operation>, names?: TypeNames): OpenApiV2Part {
  const paths: OpenApiV2Part['paths'] = {}
  pathsOf(operations, paths, { writer, names, operation: operationDocument, parameter })
  return { paths, ...writer.finishOwn() }
}

/** One definition of the catalog. @throws Error when the catalog has none of that name */
export function openApiV2DefinitionPart(
  name: string,
  kind: GroupVersionKind | undefined,
  { catalog, descriptions }: { catalog: Catalog; descriptions: DescriptionsFile },
): OpenApiV2Part {
  const writer = new DefinitionWriter(catalog, descriptions, 'v2')
  writer.addDefinition(name, kind)
  return { paths: {}, ...writer.finishOwn() }
}

export function openApiV2Frame(catalog: Catalog): OpenApiV2Frame {
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: `v${catalog.release}.0` },
    securityDefinitions: {
      BearerToken: { type: 'apiKey', in: 'header', name: 'authorization', description: 'Bearer Token authentication' },
    },
    security: [{ BearerToken: [] }],
  }
}

function operationDocument(operation: Operation, schemaOf: Describe): SchemaDocument {
  const { consumes, produces } = operation
  const schema = schemaOf(operation.answer)
  return {
    ...(consumes.length > 0 && { consumes }),
    produces,
    schemes: ['https'],
    parameters: [...bodyParameter(operation, schemaOf), ...operation.parameters.map(parameter)],
    responses: {
      200: { description: 'OK', schema },
      ...(mayCreate(operation) && { 201: { description: 'Created', schema } }),
      ...(mayTakeLonger(operation) && { 202: { description: 'Accepted', schema } }),
      401: { description: 'Unauthorized' },
    },
  }
}

function bodyParameter({ body }: Operation, schemaOf: Describe): SchemaDocument[] {
  if (body === undefined) return []
  return [{ name: 'body', in: 'body', ...(body !== 'deleteOptions' && { required: true }), schema: schemaOf(body) }]
}

function parameter(given: Parameter): SchemaDocument {
  return { uniqueItems: true, ...given }
}
