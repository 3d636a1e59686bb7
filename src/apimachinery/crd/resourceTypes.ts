/** The kinds that a CustomResourceDefinition makes: one descriptor for each served version. */
import { record } from '../fields.ts'
import type { KubeObject } from '../object.ts'
import type { ColumnDefinition, ResourceType, ScalePaths } from '../resourceType.ts'
import type { Schema } from '../schema.ts'
import { resourceRootSchemasOf } from '../structural/objectMetaSchema.ts'
import { type CrdSpec, type CrdVersion, readNames, readSpec } from './definition.ts'
import { shareSchema } from './sharedSchemas.ts'
import { compareVersions } from './versionOrder.ts'

/**
 * By the schemas that definitions say. The search for a shared one takes some 20 ms for a schema of a megabyte. The served kinds of a
 * definition are worked out several times in its life. A memo of a pure function: schemas are never changed.
 */
const wholes = new WeakMap<Schema, Schema>()

/** In the order in which upstream tells them for custom resources. */
const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const

const AGE_COLUMN: ColumnDefinition = {
  name: 'Age',
  type: 'date',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.',
  jsonPath: '.metadata.creationTimestamp',
}

/**
 * Descriptors of the served versions, in the order of the CRD. Names come from `status.acceptedNames` where there are some, else from the
 * spec. The server of these kinds adds the webhook between versions.
 */
export function resourceTypesOf(crd: KubeObject): ResourceType[] {
  const spec = readSpec(crd)
  const accepted = readNames(record(crd.status).acceptedNames)
  const names = accepted.plural === '' ? spec.names : accepted
  const storageVersion = spec.versions.find(version => version.storage)?.name ?? ''
  const schemas = new Map(spec.versions.map(version => [version.name, wholeSchema(version)]))
  const { generation = 1, creationTimestamp } = crd.metadata
  return spec.versions
    .filter(version => version.served)
    .map(version => ({
      group: spec.group,
      version: version.name,
      resource: names.plural,
      singular: names.singular === '' ? names.kind.toLowerCase() : names.singular,
      kind: names.kind,
      listKind: names.listKind === '' ? `${names.kind}List` : names.listKind,
      shortNames: names.shortNames,
      categories: names.categories,
      namespaced: spec.scope === 'Namespaced',
      verbs: VERBS,
      storageVersion,
      subresources: [...(version.hasStatus ? ['status'] : []), ...(version.scale ? ['scale'] : [])],
      ...(version.scale && { scale: scalePaths(version.scale) }),
      schema: schemas.get(version.name),
      columns: version.columns.length > 0 ? version.columns.map(column) : [AGE_COLUMN],
      selectableFields: version.selectableFields,
      form: 'custom',
      custom: {
        schemas,
        generation,
        ...(creationTimestamp && { created: creationTimestamp }),
        ...(version.deprecated && { deprecation: deprecationOf(version, spec, names.kind) }),
      },
    }))
}

/** Warning for users of a deprecated version. */
function deprecationOf({ name, deprecationWarning }: CrdVersion, { group, versions }: CrdSpec, kind: string): string {
  if (deprecationWarning !== undefined) return deprecationWarning
  const newer = versions
    .filter(version => version.served && !version.deprecated)
    .map(version => version.name)
    .sort(compareVersions)[0]
  const advice = newer !== undefined && compareVersions(newer, name) < 0 ? `; use ${group}/${newer} ${kind}` : ''
  return `${group}/${name} ${kind} is deprecated${advice}`
}

/** Works out beforehand what takes long of `resourceTypesOf`, for as long as the schemas are there. */
export function shareSchemasOf(crd: Readonly<KubeObject>): void {
  for (const version of readSpec(crd).versions) wholeSchema(version)
}

/** The version's schema with what every object has: `apiVersion`, `kind` and ObjectMeta, as far as it restricts them. */
function wholeSchema(version: CrdVersion): Schema | undefined {
  const { schema } = version
  if (schema === undefined) return undefined
  const known = wholes.get(schema)
  if (known !== undefined) return known
  const { properties = {} } = schema
  const whole = shareSchema({ ...schema, properties: { ...properties, ...resourceRootSchemasOf(properties) } })
  wholes.set(schema, whole)
  return whole
}

function scalePaths(scale: Partial<ScalePaths>): ScalePaths {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath } = scale
  return { specReplicasPath, statusReplicasPath, ...(labelSelectorPath && { labelSelectorPath }) }
}

function column(given: Partial<ColumnDefinition>): ColumnDefinition {
  const { name = '', type = 'string', format, description, priority, jsonPath = '' } = given
  return {
    name,
    type,
    ...(format && { format }),
    ...(description && { description }),
    ...(priority && { priority }),
    jsonPath,
  }
}
