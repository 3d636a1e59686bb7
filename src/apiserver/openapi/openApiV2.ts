/**
 * OpenAPI v2 ("swagger"): one document for a whole space, which kubectl before 1.27 and many tools read. Here are its parts, one
 * for each resource type and one for each definition of the catalog: pure functions, whose results callers keep.
 * @see https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v2
 */
import type { DescriptionsFile } from '../../../openapi/catalogFormat.ts'
import type { GroupVersionKind } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { modelName } from './modelName.ts'
import { mayTakeLonger, type Operation, operationsOf } from './operations.ts'
import { type Parameter, parametersOf, pathParameters } from './parameters.ts'
import type { SchemaDocument } from './schemaDocument.ts'
import { bodyTypes, patchTypes, tagOf } from './wording.ts'
import { DefinitionWriter, type OwnDefinitions } from './writtenDefinitions.ts'

export interface OpenApiV2Document extends OpenApiV2Frame {
  paths: Record<string, SchemaDocument>
  definitions: Record<string, SchemaDocument>
}

/** What every document says, whatever is served. */
export interface OpenApiV2Frame {
  swagger: '2.0'
  info: { title: string; version: string }
  securityDefinitions: Record<string, SchemaDocument>
  security: Record<string, string[]>[]
}

export interface OpenApiV2Part extends OwnDefinitions {
  paths: Record<string, SchemaDocument>
}

const PRODUCES = ['application/json', 'application/yaml']

/** The paths of a type, and its definitions when they are not the catalog's. No other type has the same paths. */
export function openApiV2TypePart(type: ResourceType, catalog: Catalog): OpenApiV2Part {
  // Texts belong to the definitions of the catalog, which have parts of their own.
  const writer = new DefinitionWriter(catalog, {}, 'v2')
  const paths: Record<string, SchemaDocument> = {}
  const names = writer.addType(type)
  for (const operation of operationsOf(type)) {
    const item = paths[operation.path] ?? { parameters: pathParameters(operation.path).map(parameter) }
    paths[operation.path] = item
    item[operation.method] = operationDocument(operation, type, model => writer.reference(modelName(model, names)))
  }
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

function operationDocument(
  operation: Operation,
  type: ResourceType,
  reference: (model: Operation['answer']) => SchemaDocument,
): SchemaDocument {
  const schema = reference(operation.answer)
  const { group, kind, version } = operation.kind
  return {
    description: operation.description,
    consumes: operation.method === 'patch' ? patchTypes(type) : bodyTypes(type),
    produces: PRODUCES,
    schemes: ['https'],
    tags: [tagOf(type)],
    operationId: operation.id,
    parameters: [...bodyParameter(operation, reference), ...parametersOf(operation, type).map(parameter)],
    responses: {
      200: { description: 'OK', schema },
      ...(operation.body && { 201: { description: 'Created', schema } }),
      ...(mayTakeLonger(operation) && { 202: { description: 'Accepted', schema } }),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': { group, kind, version },
  }
}

function bodyParameter(
  operation: Operation,
  reference: (model: Operation['answer']) => SchemaDocument,
): SchemaDocument[] {
  const body = { name: 'body', in: 'body' }
  if (operation.method === 'patch') return [{ ...body, required: true, schema: reference('patch') }]
  if (operation.method === 'delete') return [{ ...body, schema: reference('deleteOptions') }]
  return operation.body === undefined ? [] : [{ ...body, required: true, schema: reference(operation.body) }]
}

function parameter(given: Parameter): SchemaDocument {
  return { uniqueItems: true, ...given }
}
