/**
 * Aggregated discovery as protobuf, for clients that ask for nothing else. All of its fields are strings and messages, so
 * this needs no library. Numbers are those of the API's own description, the same in v2 and v2beta1.
 * @see https://github.com/kubernetes/api/blob/master/apidiscovery/v2/generated.proto
 */
import type { Steps } from '../../apimachinery/steps.ts'
import type { ApiGroupDiscoveryList, ApiResourceDiscovery } from './aggregated.ts'

type Subresource = NonNullable<ApiResourceDiscovery['subresources']>[number]

const MAGIC = Buffer.from('k8s\0')

/** The document in the envelope that all protobuf of Kubernetes has, in steps of one resource each. */
export function* aggregatedProtobuf({ apiVersion, kind, items }: ApiGroupDiscoveryList): Steps<Buffer> {
  const groups: Buffer[] = []
  for (const { metadata, versions } of items) {
    const served: Buffer[] = []
    for (const { version, resources, freshness } of versions) {
      const encoded: Buffer[] = []
      for (const each of resources) {
        encoded.push(field(2, resource(each)))
        yield
      }
      served.push(message(text(1, version), ...encoded, text(3, freshness)))
    }
    groups.push(message(field(1, message(text(1, metadata.name ?? ''))), ...served.map(each => field(2, each))))
  }
  const list = message(field(1, Buffer.alloc(0)), ...groups.map(each => field(2, each)))
  const typeMeta = message(text(1, apiVersion), text(2, kind))
  return Buffer.concat([MAGIC, field(1, typeMeta), field(2, list)])
}

function resource(of: ApiResourceDiscovery): Buffer {
  return message(
    text(1, of.resource),
    field(2, responseKind(of.responseKind)),
    text(3, of.scope),
    text(4, of.singularResource),
    ...of.verbs.map(verb => text(5, verb)),
    ...(of.shortNames ?? []).map(name => text(6, name)),
    ...(of.categories ?? []).map(name => text(7, name)),
    ...(of.subresources ?? []).map(each => field(8, subresource(each))),
  )
}

function subresource(of: Subresource): Buffer {
  return message(
    text(1, of.subresource),
    field(2, responseKind(of.responseKind)),
    ...of.verbs.map(verb => text(4, verb)),
  )
}

function responseKind({ group, version, kind }: ApiResourceDiscovery['responseKind']): Buffer {
  return message(text(1, group), text(2, version), text(3, kind))
}

function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields)
}

function text(number: number, value: string): Buffer {
  return field(number, Buffer.from(value))
}

/** Length-delimited; numbers below 16 fit into one byte with their wire type. */
function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2]), lengthOf(content), content])
}

/** Base 128, lowest digits first. */
function lengthOf({ length }: Buffer): Buffer {
  const digits: number[] = []
  let rest = length
  for (; rest > 127; rest >>>= 7) digits.push((rest & 127) | 128)
  return Buffer.from([...digits, rest])
}
