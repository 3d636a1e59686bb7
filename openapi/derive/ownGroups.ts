/**
 * Reads Orrery's own API groups: `openapi/groups/*.yaml`, each document a CustomResourceDefinition (apiextensions v1).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import {
  API_VERSION_TEXT,
  type CatalogColumn,
  type CatalogResource,
  KIND_TEXT,
  type SchemaNode,
} from '../catalogFormat.ts'
import { customDefinitionName, META_PACKAGE } from '../definitionNames.ts'

interface Names {
  plural: string
  singular?: string
  kind: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
}

interface Definition {
  spec: {
    group: string
    scope: 'Cluster' | 'Namespaced'
    /** Absent: all. */
    verbs?: string[]
    /** Its objects are answered and not stored, so nobody writes them. */
    answered?: true
    names: Names
    /** Names of the same kind for objects without a namespace. */
    clusterNames?: Names
    versions: {
      name: string
      served: boolean
      storage: boolean
      schema: { openAPIV3Schema: SchemaNode }
      /** `outcome`: one that is answered and not stored, of a kind of its own. */
      subresources?: {
        status?: object
        scale?: CatalogResource['scale']
        outcome?: { kind: string; openAPIV3Schema: SchemaNode }
      }
      additionalPrinterColumns?: CatalogColumn[]
      selectableFields?: { jsonPath: string }[]
    }[]
  }
}

/** Column of a CustomResourceDefinition without columns, beside the name. */
const AGE: CatalogColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }
const READING = ['get', 'list', 'watch']
const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** @throws Error naming the file whose YAML is broken */
export function readOwnGroups(folder: string): {
  definitions: Record<string, SchemaNode>
  resources: CatalogResource[]
} {
  const definitions: Record<string, SchemaNode> = {}
  const resources: CatalogResource[] = []
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.yaml')) continue
    for (const document of parseAllDocuments(readFileSync(join(folder, file), 'utf8'), { merge: true })) {
      if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]!.message}`)
      const { spec: whole } = document.toJS() as Definition
      const { clusterNames: names } = whole
      const twins: Definition['spec'][] = names ? [whole, { ...whole, scope: 'Cluster', names }] : [whole]
      for (const [spec, version] of twins.flatMap(spec => spec.versions.map(version => [spec, version] as const))) {
        if (!version.served) continue
        const definition = customDefinitionName(spec.group, version.name, spec.names.kind)
        definitions[definition] = wholeObject(version.schema.openAPIV3Schema)
        const outcome = version.subresources?.outcome
        if (outcome !== undefined)
          definitions[customDefinitionName(spec.group, version.name, outcome.kind)] = wholeObject(
            outcome.openAPIV3Schema,
          )
        resources.push(resourceOf(spec, version, definition))
      }
    }
  }
  return { definitions, resources }
}

/** Adds the fields that every object has, which a CustomResourceDefinition need not mention. */
function wholeObject(schema: SchemaNode): SchemaNode {
  return {
    ...schema,
    properties: {
      apiVersion: { description: API_VERSION_TEXT, type: 'string' },
      kind: { description: KIND_TEXT, type: 'string' },
      metadata: { $ref: `${META_PACKAGE}.ObjectMeta` },
      ...schema.properties,
    },
  }
}

function resourceOf(
  spec: Definition['spec'],
  version: Definition['spec']['versions'][number],
  definition: string,
): CatalogResource {
  const { names } = spec
  return {
    group: spec.group,
    version: version.name,
    resource: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    verbs: spec.answered ? READING : (spec.verbs ?? ALL_VERBS),
    ...(spec.answered && { answered: true }),
    storageVersion: spec.versions.find(v => v.storage)!.name,
    subresources: [
      ...(version.subresources?.outcome ? ['outcome'] : []),
      ...(version.subresources?.scale ? ['scale'] : []),
      ...(version.subresources?.status ? ['status'] : []),
    ],
    ...(version.subresources?.scale && { scale: version.subresources.scale }),
    definition,
    columns: version.additionalPrinterColumns ?? (spec.verbs?.includes('get') === false ? [] : [AGE]),
    ...(version.selectableFields && { selectableFields: version.selectableFields.map(({ jsonPath }) => jsonPath) }),
  }
}
