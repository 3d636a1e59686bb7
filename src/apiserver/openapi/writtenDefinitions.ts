/**
 * Writes schema graphs as the named definitions of an OpenAPI document. A node that is a definition of the catalog becomes a reference, and
 * its definition is written too. `customSchema.ts` writes the tree of a CustomResourceDefinition.
 *
 * The dialects differ. Version 2 has no `nullable`, `oneOf` and the like, and version 3 wraps a reference in `allOf` when there are members
 * beside it.
 */
import { API_VERSION_TEXT, type DescriptionsFile, KIND_TEXT } from '../../../openapi/catalogFormat.ts'
import { customDefinitionName, META_PACKAGE } from '../../../openapi/definitionNames.ts'
import type { GroupVersionKind } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { publishedObject } from './customSchema.ts'
import { beside, type Dialect, REFERENCE_PREFIX, type SchemaDocument } from './schemaDocument.ts'

/** Keywords that structural schemas have and version 2 does not. */
const NOT_IN_V2: ReadonlySet<string> = new Set([
  'nullable',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'default',
  'x-kubernetes-validations',
])
/** Kinds of every version of the API beside its own ones, as of the first. */
const META_KINDS: ReadonlySet<string> = new Set([
  ...['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions'],
  ...['DeleteOptions', 'Status', 'WatchEvent'],
])
const SUBSCHEMA_LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf'])
const REFERENCE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  metadata: "Standard object's metadata: name, namespace, labels and the like.",
  spec: 'The desired state, as its author wants it.',
  status: 'The observed state, as the system reports it.',
}

/** Definitions without those of the catalog that they refer to. */
export interface OwnDefinitions {
  documents: Record<string, SchemaDocument>
  /** Names of definitions of the catalog. */
  references: readonly string[]
  /** For the definitions of the catalog that are kinds. */
  kinds: readonly [name: string, kind: GroupVersionKind][]
}

export class DefinitionWriter {
  readonly #catalog: Catalog
  readonly #descriptions: DescriptionsFile
  readonly #dialect: Dialect
  readonly #documents = new Map<string, SchemaDocument>()
  readonly #kinds = new Map<string, GroupVersionKind>()
  readonly #queue: string[] = []

  constructor(catalog: Catalog, descriptions: DescriptionsFile, dialect: Dialect) {
    this.#catalog = catalog
    this.#descriptions = descriptions
    this.#dialect = dialect
  }

  /** A reference to a definition of the catalog. */
  reference(name: string): SchemaDocument {
    this.#enqueue(name)
    return { $ref: REFERENCE_PREFIX[this.#dialect] + name }
  }

  /** The definitions of a kind and of its list. @returns their names; the list's only when the kind can be listed */
  addType(type: ResourceType): { object: string; list?: string } {
    const object = this.#objectName(type)
    this.#tagKind(object, type, type.kind)
    if (!type.verbs.includes('list')) return { object }
    const list = this.#listName(type, object)
    this.#tagKind(list, type, type.listKind)
    return { object, list }
  }

  /** Writes a definition of the catalog, tagged with its kind if it is one. */
  addDefinition(name: string, kind?: GroupVersionKind): void {
    // Known before it is written, as it may refer to itself.
    this.#documents.set(name, {})
    this.#documents.set(name, this.#definition(name))
    if (kind) this.#kinds.set(name, kind)
  }

  /** Only what was added; of the catalog's definitions that it refers to, the names and what kinds they are. */
  finishOwn(): OwnDefinitions {
    const references = new Set(this.#queue)
    const documents: Record<string, SchemaDocument> = {}
    for (const [name, document] of this.#documents) if (!references.has(name)) documents[name] = document
    const kinds: [string, GroupVersionKind][] = []
    for (const [name, kind] of this.#kinds) {
      if (references.has(name)) kinds.push([name, kind])
      else documents[name]!['x-kubernetes-group-version-kind'] = [kind]
    }
    return { documents, references: [...references], kinds }
  }

  /** The definitions by name, sorted, with all that they refer to. */
  finish(): Record<string, SchemaDocument> {
    this.#drain()
    for (const [name, kind] of this.#kinds) this.#documents.get(name)!['x-kubernetes-group-version-kind'] = [kind]
    return Object.fromEntries([...this.#documents].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #objectName(type: ResourceType): string {
    const known = type.schema && this.#catalog.definitionName(type.schema)
    if (known !== undefined) {
      this.#enqueue(known)
      return known
    }
    const name = customDefinitionName(type.group, type.version, type.kind)
    if (!this.#documents.has(name)) this.#documents.set(name, this.#customObject(type))
    return name
  }

  #listName(type: ResourceType, object: string): string {
    const known = this.#catalog.listDefinitionName(type)
    if (known !== undefined) {
      this.#enqueue(known)
      return known
    }
    const name = `${object.slice(0, -type.kind.length)}${type.listKind}`
    this.#documents.set(name, this.#customList(type, object))
    return name
  }

  #customObject({ schema, selectableFields }: ResourceType): SchemaDocument {
    const document = publishedObject(schema, this.#dialect, this.#objectFields('ObjectMeta'))
    if (selectableFields.length === 0) return document
    const fields = selectableFields.map(path => ({ fieldPath: path.replace(/^\./, '') }))
    return { ...document, 'x-kubernetes-selectable-fields': fields }
  }

  #customList(type: ResourceType, object: string): SchemaDocument {
    return {
      description: `${type.listKind} is a list of ${type.kind}`,
      type: 'object',
      required: ['items'],
      properties: {
        ...this.#objectFields('ListMeta'),
        items: {
          description: `List of ${type.resource}.`,
          type: 'array',
          items: { $ref: REFERENCE_PREFIX[this.#dialect] + object },
        },
      },
    }
  }

  #objectFields(meta: 'ObjectMeta' | 'ListMeta'): Record<string, SchemaDocument> {
    return {
      apiVersion: { description: API_VERSION_TEXT, type: 'string' },
      kind: { description: KIND_TEXT, type: 'string' },
      metadata: beside(
        this.reference(`${META_PACKAGE}.${meta}`),
        { description: REFERENCE_DESCRIPTIONS.metadata },
        this.#dialect,
      ),
    }
  }

  #tagKind(name: string, { group, version }: ResourceType, kind: string): void {
    this.#kinds.set(name, { group, kind, version })
  }

  #enqueue(name: string): void {
    if (this.#documents.has(name)) return
    // Holds the place until it is written, so that a cycle ends here.
    this.#documents.set(name, {})
    this.#queue.push(name)
  }

  #drain(): void {
    for (let name = this.#queue.pop(); name !== undefined; name = this.#queue.pop()) {
      this.#documents.set(name, this.#definition(name))
    }
  }

  #definition(name: string): SchemaDocument {
    const schema = this.#catalog.definitions.get(name)
    if (schema === undefined) throw new Error(`the catalog has no definition ${name}`)
    const texts = this.#descriptions[name]
    const document = this.#write(schema, texts)
    if (texts?.['']) document.description = texts['']
    const kind = name.startsWith(`${META_PACKAGE}.`) ? name.slice(META_PACKAGE.length + 1) : ''
    if (META_KINDS.has(kind)) document['x-kubernetes-group-version-kind'] = [{ group: '', kind, version: 'v1' }]
    return document
  }

  /** A child: a reference where it is a definition. `description` is the text of the field that holds it, if there is one. */
  #child(schema: Schema, description?: string): SchemaDocument {
    const name = this.#catalog.definitionName(schema)
    if (name === undefined) return { ...this.#write(schema, undefined), ...(description && { description }) }
    const definition = this.#catalog.definitions.get(name)!
    const extras: SchemaDocument = {}
    if (description) extras.description = description
    for (const [keyword, value] of Object.entries(schema)) {
      if (definition[keyword as keyof Schema] !== value && this.#knows(keyword)) extras[keyword] = value
    }
    return beside(this.reference(name), extras, this.#dialect)
  }

  #knows(keyword: string): boolean {
    return this.#dialect === 'v3' || !NOT_IN_V2.has(keyword)
  }

  #write(schema: Schema, texts: Record<string, string> | undefined): SchemaDocument {
    const scalar = this.#scalarWithoutType(schema)
    if (scalar !== undefined) return scalar
    const document: SchemaDocument = {}
    for (const [keyword, value] of Object.entries(schema)) {
      if (!this.#knows(keyword)) continue
      if (keyword === 'properties') document.properties = this.#writeProperties(value as Record<string, Schema>, texts)
      else if (keyword === 'items' || keyword === 'not') document[keyword] = this.#child(value as Schema, undefined)
      else if (keyword === 'additionalProperties') {
        document[keyword] = typeof value === 'object' ? this.#child(value as Schema, undefined) : value
      } else if (SUBSCHEMA_LISTS.has(keyword)) {
        document[keyword] = (value as Schema[]).map(branch => this.#child(branch, undefined))
      } else document[keyword] = value
    }
    // Readers of version 2 would refuse null, or fields that a preserving object does not list.
    if (
      this.#dialect === 'v2' &&
      (schema.nullable || (schema['x-kubernetes-preserve-unknown-fields'] && !schema.properties))
    ) {
      if (schema.nullable || this.#catalog.definitionName(schema) === undefined) delete document.type
    }
    return document
  }

  #writeProperties(properties: Record<string, Schema>, texts: Record<string, string> | undefined): SchemaDocument {
    const document: SchemaDocument = {}
    for (const [name, property] of Object.entries(properties))
      document[name] = this.#child(property, texts?.[name] ?? this.#fallbackText(name, property))
    return document
  }

  /** The generated client knows no text of fields that refer to a definition: say what the definition is about. */
  #fallbackText(field: string, schema: Schema): string | undefined {
    const definition = this.#catalog.definitionName(schema)
    if (definition === undefined || schema.description !== undefined) return undefined
    return REFERENCE_DESCRIPTIONS[field] ?? /^.*?[.](?=\s|$)/.exec(this.#descriptions[definition]?.[''] ?? '')?.[0]
  }

  /** Built-in values that come in two JSON types, each dialect in its words. */
  #scalarWithoutType({ format }: Schema): SchemaDocument | undefined {
    if (format === 'quantity') {
      return this.#dialect === 'v2' ? { type: 'string' } : { oneOf: [{ type: 'string' }, { type: 'number' }] }
    }
    if (format !== 'int-or-string') return undefined
    return this.#dialect === 'v2'
      ? { type: 'string', format: 'int-or-string' }
      : { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }
  }
}
