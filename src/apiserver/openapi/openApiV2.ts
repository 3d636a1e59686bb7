/**
 * OpenAPI v2 ("swagger"): one document for a whole space, which kubectl before 1.27 and many tools read.
 * A pure function of the resource types of a space; callers keep the result.
 * @see https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v2
 */
import type { DescriptionsFile } from '../../../openapi/catalogFormat.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { DefinitionWriter, type SchemaDocument } from './definitions.ts'
import { modelName } from './modelName.ts'
import { type Operation, operationsOf } from './operations.ts'
import { type Parameter, parametersOf, pathParameters } from './parameters.ts'
import { patchTypes, tagOf } from './wording.ts'

export interface OpenApiV2Document {
  swagger: '2.0'
  info: { title: string; version: string }
  paths: Record<string, SchemaDocument>
  definitions: Record<string, SchemaDocument>
  securityDefinitions: Record<string, SchemaDocument>
  security: Record<string, string[]>[]
}

const PRODUCES = ['application/json', 'application/yaml']

/** `/openapi/v2`. */
export function openApiV2(
  types: readonly ResourceType[],
  { catalog, descriptions }: { catalog: Catalog; descriptions: DescriptionsFile },
): OpenApiV2Document {
  const writer = new DefinitionWriter(catalog, descriptions, 'v2')
  const paths: Record<string, SchemaDocument> = {}
  for (const type of types) {
    const names = writer.addType(type)
    for (const operation of operationsOf(type)) {
      const item = paths[operation.path] ?? { parameters: pathParameters(operation.path).map(parameter) }
      paths[operation.path] = item
      item[operation.method] = operationDocument(operation, type, model => writer.reference(modelName(model, names)))
    }
  }
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: `v${catalog.release}.0` },
    paths,
    definitions: writer.finish(),
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
    consumes: operation.method === 'patch' ? patchTypes(type) : ['*/*'],
    produces: PRODUCES,
    schemes: ['https'],
    tags: [tagOf(type)],
    operationId: operation.id,
    parameters: [...bodyParameter(operation, reference), ...parametersOf(operation).map(parameter)],
    responses: {
      200: { description: 'OK', schema },
      ...(operation.body && { 201: { description: 'Created', schema } }),
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
