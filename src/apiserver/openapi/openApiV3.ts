/**
 * OpenAPI v3: an index, and one document per group version, which `kubectl explain` and clients with schemas read.
 * Pure functions of the resource types of a space; callers keep the result.
 * @see https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
 */
import { createHash, type Hash } from 'node:crypto'
import type { DescriptionsFile } from '../../../openapi/catalogFormat.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { servedGroups } from '../discovery/groups.ts'
import { discoveryOperations, resourceListOperation } from './discoveryOperations.ts'
import type { TypeNames } from './modelName.ts'
import type { Operation, Parameter } from './operation.ts'
import { mayCreate, mayTakeLonger, operationsOf } from './operations.ts'
import { type Describe, pathsOf } from './paths.ts'
import type { SchemaDocument } from './schemaDocument.ts'
import { DefinitionWriter } from './writtenDefinitions.ts'

interface OpenApiV3Index {
  paths: Record<string, { serverRelativeURL: string }>
}

export interface OpenApiV3Document {
  openapi: '3.0.0'
  info: { title: string; version: string }
  paths: Record<string, SchemaDocument>
  components: { schemas: Record<string, SchemaDocument>; securitySchemes: Record<string, SchemaDocument> }
}

/** Raised when documents of the same kinds say something else: clients keep them by their hashes. */
const EDITION = '2'

/** `/openapi/v3`. The hash in each URL changes with the document, so clients may keep it for good. */
export function openApiV3Index(types: readonly ResourceType[], catalog: Catalog): OpenApiV3Index {
  const paths: OpenApiV3Index['paths'] = {}
  const add = (path: string, hash: string): void => {
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }
  }
  for (const path of discoveryOperations(types).keys()) add(path, discoveryHash(path, catalog))
  for (const { group, versions } of servedGroups(types)) {
    for (const { version, types: served } of versions) {
      const path = group === '' ? `api/${version}` : `apis/${group}/${version}`
      add(path, openApiHash(served, catalog))
    }
  }
  return { paths }
}

/** Upper-case hexadecimal; equal for types with equal documents. The identity of built-in schemas is their release and name. */
export function openApiHash(types: readonly ResourceType[], catalog: Catalog): string {
  const hash = editionHash(catalog)
  for (const type of types) hash.update(typeHash(type, catalog))
  return hash.digest('hex').toUpperCase()
}

/** The same for a document that is about no resource. */
export function discoveryHash(path: string, catalog: Catalog): string {
  return editionHash(catalog).update(`/${path}`).digest('hex').toUpperCase()
}

function editionHash(catalog: Catalog): Hash {
  return createHash('sha256').update(`${catalog.release} ${EDITION} `)
}

// A memo of a pure function: a space with a thousand kinds must not hash them all because one of them changed.
const typeHashes = new WeakMap<ResourceType, Buffer>()

/** Equal for types with equal documents, whatever objects they are. */
export function typeHash(type: ResourceType, catalog: Catalog): Buffer {
  return getOrInsert(typeHashes, type, () => {
    const { schema, custom: _, ...names } = type
    const known = schema && catalog.definitionName(schema)
    return createHash('sha256')
      .update(JSON.stringify([names, known ?? schema ?? null]))
      .digest()
  })
}

interface OpenApiV3Options {
  group: string
  version: string
  catalog: Catalog
  descriptions: DescriptionsFile
}

/**
 * `/openapi/v3/api/v1` and `/openapi/v3/apis/<group>/<version>`, one step for each type: a group may have a thousand.
 * `undefined` where no type is of that group version.
 */
export function* openApiV3(
  types: readonly ResourceType[],
  options: OpenApiV3Options,
): Steps<OpenApiV3Document | undefined> {
  const { group, version, catalog, descriptions } = options
  const served = types.filter(type => type.group === group && type.version === version)
  if (served.length === 0) return undefined
  const writer = new DefinitionWriter(catalog, descriptions, 'v3')
  const paths: OpenApiV3Document['paths'] = {}
  write([resourceListOperation(group, version)], paths, writer)
  for (const type of served) {
    write(operationsOf(type), paths, writer, writer.addType(type))
    yield
  }
  return documentOf(paths, writer, catalog)
}

/** The document of operations that are about no resource. */
export function* openApiV3Discovery(
  operations: Iterable<Operation>,
  { catalog, descriptions }: Pick<OpenApiV3Options, 'catalog' | 'descriptions'>,
): Steps<OpenApiV3Document> {
  const writer = new DefinitionWriter(catalog, descriptions, 'v3')
  const paths: OpenApiV3Document['paths'] = {}
  for (const operation of operations) {
    write([operation], paths, writer)
    yield
  }
  return documentOf(paths, writer, catalog)
}

function write(
  operations: Iterable<Operation>,
  paths: OpenApiV3Document['paths'],
  writer: DefinitionWriter,
  names?: TypeNames,
): void {
  pathsOf(operations, paths, { writer, names, operation: operationDocument, parameter })
}

function documentOf(paths: OpenApiV3Document['paths'], writer: DefinitionWriter, catalog: Catalog): OpenApiV3Document {
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: `v${catalog.release}.0` },
    paths,
    components: {
      schemas: writer.finish(),
      securitySchemes: {
        BearerToken: {
          type: 'apiKey',
          in: 'header',
          name: 'authorization',
          description: 'Bearer Token authentication',
        },
      },
    },
  }
}

/** Its text in small pieces, one for each path and each schema: together what JSON.stringify makes of it. */
export function* openApiV3Text({ paths, components, ...head }: OpenApiV3Document): Generator<string> {
  const { schemas, ...rest } = components
  yield `${JSON.stringify(head).slice(0, -1)},"paths":{`
  yield* membersOf(paths)
  yield '},"components":{"schemas":{'
  yield* membersOf(schemas)
  yield `},${JSON.stringify(rest).slice(1)}}`
}

function* membersOf(record: Record<string, unknown>): Generator<string> {
  let comma = ''
  for (const [name, value] of Object.entries(record)) {
    yield `${comma}${JSON.stringify(name)}:${JSON.stringify(value)}`
    comma = ','
  }
}

function operationDocument(operation: Operation, schemaOf: Describe): SchemaDocument {
  const answer = { description: 'OK', content: content(operation.produces, schemaOf(operation.answer)) }
  return {
    parameters: operation.parameters.map(parameter),
    ...requestBody(operation, schemaOf),
    responses: {
      200: answer,
      ...(mayCreate(operation) && { 201: { ...answer, description: 'Created' } }),
      ...(mayTakeLonger(operation) && { 202: { ...answer, description: 'Accepted' } }),
      401: { description: 'Unauthorized' },
    },
  }
}

function requestBody({ body, consumes }: Operation, schemaOf: Describe): SchemaDocument {
  if (body === undefined) return {}
  const isRequired = body !== 'deleteOptions'
  return { requestBody: { ...(isRequired && { required: true }), content: content(consumes, schemaOf(body)) } }
}

function content(types: readonly string[], schema: SchemaDocument): SchemaDocument {
  return Object.fromEntries(types.map(type => [type, { schema }]))
}

function parameter({ type, ...rest }: Parameter): SchemaDocument {
  return { ...rest, schema: { type, uniqueItems: true } }
}
