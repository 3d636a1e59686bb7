/**
 * The kinds that every space serves without a CustomResourceDefinition: Kubernetes' own and Orrery's, as `openapi/derive.ts`
 * prepared them. Loaded once per process and shared by all spaces; nobody may change what it returns.
 */
import type { CatalogFile, CatalogResource, DescriptionsFile, SchemaNode } from '../../../openapi/catalogFormat.ts'
import { parseHarmless } from '../../apimachinery/jsonParse.ts'
import { apiVersionOf } from '../../apimachinery/object.ts'
import type { ColumnDefinition, ResourceType } from '../../apimachinery/resourceType.ts'
import { ONE_VALUE, type Schema, STRUCT_FACTS, STRUCT_NAME } from '../../apimachinery/schema.ts'
import { readGenerated } from '../../program/dataFiles.ts'
import { PROGRAM_ROOT } from '../../program/programRoot.ts'

export interface Catalog {
  /** The Kubernetes release of the built-in kinds: `1.36`. */
  readonly release: string
  /** By group, version and resource in the order of upstream's groups, Orrery's own last. */
  readonly types: readonly ResourceType[]
  /** Every definition by upstream's name (`io.k8s.api.core.v1.Pod`), lists and helper types included. */
  readonly definitions: ReadonlyMap<string, Schema>
  /** The name of a schema node that is a definition; `undefined` for nested nodes and for schemas from elsewhere. */
  definitionName(schema: Schema): string | undefined
  /** The definition of the list of a built-in kind. */
  listDefinitionName(type: ResourceType): string | undefined
  /** The schema of a kind of Kubernetes' own; `undefined` of others. */
  schemaOf(this: void, apiVersion: string, kind: string): Schema | undefined
  /** Documentation of definitions and their fields. Read from disk at each call, as few processes ever need it. */
  loadDescriptions(): DescriptionsFile
}

let loaded: Catalog | undefined

/** Servers of one process share it, with all that is compiled of its schemas. @throws Error when files are missing, saying how to make them */
export function loadCatalog(): Catalog {
  loaded ??= catalogOf(readGenerated)
  return loaded
}

/** @param read the text of a file that `openapi/derive.ts` wrote */
export function catalogOf(read: (name: string) => string): Catalog {
  const file = parsed(read, 'catalog.json') as CatalogFile
  const names = new Map<Schema, string>()
  const definitions = linkDefinitions(file.definitions, names)
  const listNames = new Map<ResourceType, string>()
  const schemas = new Map<string, Schema>()
  const types = file.resources.map(resource => {
    const type = resourceType(resource, definitions.get(resource.definition)!)
    if (type.form === 'struct') schemas.set(`${apiVersionOf(type)} ${type.kind}`, type.schema!)
    if (resource.listDefinition !== undefined) listNames.set(type, resource.listDefinition)
    return type
  })
  return {
    release: file.release,
    types,
    definitions,
    definitionName: schema => names.get(schema),
    listDefinitionName: type => listNames.get(type),
    schemaOf: (apiVersion, kind) => schemas.get(`${apiVersion} ${kind}`),
    loadDescriptions: () => parsed(read, 'descriptions.json') as DescriptionsFile,
  }
}

/** Whether a definition is one of Kubernetes' own; the others are Orrery's. */
function isStruct(definition: string): boolean {
  return definition.startsWith('io.k8s.')
}

/** Open parts of Kubernetes' own kinds (the data of a ControllerRevision, defaults in a CRD) are raw bytes in its code. */
function markOpenFields(schema: Schema): void {
  const { properties, items, additionalProperties } = schema
  if (schema['x-kubernetes-preserve-unknown-fields'] && properties === undefined) schema[ONE_VALUE] = true
  for (const child of [...Object.values(properties ?? {}), items, additionalProperties]) {
    if (typeof child === 'object' && child[STRUCT_NAME] === undefined) markOpenFields(child)
  }
}

function parsed(read: (name: string) => string, name: string): unknown {
  try {
    return parseHarmless(read(name))
  } catch (cause) {
    // npm runs it on the Node.js of the clone, whatever the machine has
    const remedy = `run "npm run prepareClone" in ${PROGRAM_ROOT} to write it`
    throw new Error(`cannot read openapi/generated/${name}: ${remedy}`, { cause })
  }
}

function resourceType(resource: CatalogResource, schema: Schema): ResourceType {
  const { definition, listDefinition: _, columns, selectableFields = [], ...names } = resource
  const form = isStruct(definition) ? 'struct' : 'own'
  return { ...names, schema, columns: columns as ColumnDefinition[], selectableFields, form }
}

/** Replaces every `$ref` by the node that it names, in place, and notes the name of each node that stands for a definition. */
function linkDefinitions(raw: Record<string, SchemaNode>, names: Map<Schema, string>): Map<string, Schema> {
  const definitions = new Map<string, Schema>()
  for (const [name, node] of Object.entries(raw)) {
    const schema = node as Schema
    schema[STRUCT_NAME] = name.split('.').slice(-2).join('.')
    if (node.struct !== undefined) {
      schema[STRUCT_FACTS] = node.struct
      delete node.struct
    }
    definitions.set(name, schema)
    names.set(schema, name)
  }
  for (const node of Object.values(raw)) linkChildren(node)
  for (const [name, schema] of definitions) if (isStruct(name)) markOpenFields(schema)
  return definitions

  function link(node: SchemaNode): SchemaNode {
    const { $ref } = node
    if ($ref === undefined) {
      linkChildren(node)
      return node
    }
    const target = raw[$ref]
    if (target === undefined) throw new Error(`the catalog has no definition ${$ref}`)
    if (Object.keys(node).length === 1) return target
    // Members beside the reference hold here only. The copy shares the children, which are linked in place.
    const copy: SchemaNode = { ...target, ...node }
    delete copy.$ref
    names.set(copy as Schema, $ref)
    return copy
  }

  function linkChildren(node: SchemaNode): void {
    const { properties, items, additionalProperties } = node
    if (properties !== undefined) for (const key of Object.keys(properties)) properties[key] = link(properties[key]!)
    if (items !== undefined) node.items = link(items)
    if (typeof additionalProperties === 'object') node.additionalProperties = link(additionalProperties)
  }
}
