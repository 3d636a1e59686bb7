/** Content of a CustomResourceDefinition, read leniently: a member of the wrong shape counts as absent. */
import { list, record, str } from '../fields.ts'
import { isRecord, type KubeObject } from '../object.ts'
import type { ColumnDefinition, ScalePaths } from '../resourceType.ts'
import type { Schema } from '../schema.ts'

export interface CrdNames {
  plural: string
  singular: string
  kind: string
  listKind: string
  shortNames: string[]
  categories: string[]
}

export interface CrdVersion {
  name: string
  served: boolean
  storage: boolean
  deprecated: boolean
  deprecationWarning: string | undefined
  schema: Schema | undefined
  hasStatus: boolean
  scale: Partial<ScalePaths> | undefined
  columns: Partial<ColumnDefinition>[]
  selectableFields: string[]
}

export interface CrdSpec {
  group: string
  scope: string
  names: CrdNames
  versions: CrdVersion[]
}

export function readSpec(crd: KubeObject): CrdSpec {
  const spec = record(crd.spec)
  return {
    group: str(spec.group),
    scope: str(spec.scope),
    names: readNames(spec.names),
    versions: list(spec.versions).map(readVersion),
  }
}

export function readNames(value: unknown): CrdNames {
  const names = record(value)
  return {
    plural: str(names.plural),
    singular: str(names.singular),
    kind: str(names.kind),
    listKind: str(names.listKind),
    shortNames: list(names.shortNames).map(name => str(name)),
    categories: list(names.categories).map(name => str(name)),
  }
}

function readVersion(value: unknown): CrdVersion {
  const version = record(value)
  const subresources = record(version.subresources)
  const schema = record(version.schema).openAPIV3Schema
  return {
    name: str(version.name),
    served: version.served === true,
    storage: version.storage === true,
    deprecated: version.deprecated === true,
    deprecationWarning: typeof version.deprecationWarning === 'string' ? version.deprecationWarning : undefined,
    schema: isRecord(schema) ? (schema as Schema) : undefined,
    hasStatus: isRecord(subresources.status),
    scale: isRecord(subresources.scale) ? (subresources.scale as Partial<ScalePaths>) : undefined,
    columns: list(version.additionalPrinterColumns).filter(isRecord) as Partial<ColumnDefinition>[],
    selectableFields: list(version.selectableFields).map(field => str(record(field).jsonPath)),
  }
}

/** Difference between objects of two versions: their apiVersion alone, or a webhook's conversion. */
export type CrdConversion =
  | { strategy: 'None' }
  | { strategy: 'Webhook'; client: ConversionClient; caPem: string | undefined; reviewVersions: string[] }
type ConversionClient = { url: string } | { service: { namespace: string; name: string; path: string; port: number } }

export function conversionOf(crd: KubeObject): CrdConversion {
  const conversion = record(record(crd.spec).conversion)
  if (conversion.strategy !== 'Webhook') return { strategy: 'None' }
  const webhook = record(conversion.webhook)
  const client = record(webhook.clientConfig)
  const bundle = str(client.caBundle)
  return {
    strategy: 'Webhook',
    client: isRecord(client.service) ? { service: serviceOf(client.service) } : { url: str(client.url) },
    caPem: bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString(),
    reviewVersions: list(webhook.conversionReviewVersions).map(name => str(name)),
  }
}

function serviceOf(service: Record<string, unknown>): { namespace: string; name: string; path: string; port: number } {
  const port = typeof service.port === 'number' ? service.port : 443
  return { namespace: str(service.namespace), name: str(service.name), path: str(service.path), port }
}
