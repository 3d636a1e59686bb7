/**
 * The protobuf form of an OpenAPI v2 document: the `Document` message of gnostic's openapi.v2 package. kubectl up to 1.26
 * reads nothing else.
 *
 * The message types use `oneof` and wrappers where JSON uses shapes. A document is therefore reshaped first and then encoded by a
 * descriptor that lists only the fields in use.
 * @see https://github.com/google/gnostic-models/blob/main/openapiv2/OpenAPIv2.proto
 */
import { createRequire } from 'node:module'
import type protobuf from 'protobufjs'
import type { OpenApiV2Frame } from './openApiV2.ts'
import type { BodyLengths, EncodedFrame, OpenApiV2Form } from './openApiV2Form.ts'
import type { SchemaDocument } from './schemaDocument.ts'

/** Content-Type of the answer. Clients ask with `@` before `v1.0`; never answer so: Go cannot parse such a media type. */
export const OPENAPI_V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

const LENGTH_DELIMITED = 2

/** Per message: `name:type=number`, a trailing `*` on the type means repeated. */
const MESSAGES: Record<string, string> = {
  Document:
    'swagger:string=1 info:Info=2 paths:Paths=8 definitions:NamedSchemas=9 security:SecurityRequirement*=12 securityDefinitions:SecurityDefinitions=13',
  Info: 'title:string=1 version:string=2',
  Paths: 'path:NamedPathItem*=2',
  NamedPathItem: 'name:string=1 value:PathItem=2',
  PathItem:
    'get:Operation=2 put:Operation=3 post:Operation=4 delete:Operation=5 options:Operation=6 head:Operation=7 patch:Operation=8 parameters:ParametersItem*=9',
  Operation:
    'tags:string*=1 description:string=3 operationId:string=5 produces:string*=6 consumes:string*=7 parameters:ParametersItem*=8 responses:Responses=9 schemes:string*=10 vendorExtension:NamedAny*=13',
  ParametersItem: 'parameter:Parameter=1',
  Parameter: 'bodyParameter:BodyParameter=1 nonBodyParameter:NonBodyParameter=2',
  BodyParameter: 'description:string=1 name:string=2 in:string=3 required:bool=4 schema:Schema=5',
  NonBodyParameter: 'queryParameterSubSchema:QueryParameter=3 pathParameterSubSchema:PathParameter=4',
  QueryParameter: 'required:bool=1 in:string=2 description:string=3 name:string=4 type:string=6 uniqueItems:bool=20',
  PathParameter: 'required:bool=1 in:string=2 description:string=3 name:string=4 type:string=5 uniqueItems:bool=19',
  Responses: 'responseCode:NamedResponseValue*=1',
  NamedResponseValue: 'name:string=1 value:ResponseValue=2',
  ResponseValue: 'response:Response=1',
  Response: 'description:string=1 schema:SchemaItem=2',
  SchemaItem: 'schema:Schema=1',
  NamedSchemas: 'additionalProperties:NamedSchema*=1',
  NamedSchema: 'name:string=1 value:Schema=2',
  Schema:
    'ref:string=1 format:string=2 title:string=3 description:string=4 default:Any=5 multipleOf:double=6 maximum:double=7 exclusiveMaximum:bool=8 minimum:double=9 exclusiveMinimum:bool=10 maxLength:int64=11 minLength:int64=12 pattern:string=13 maxItems:int64=14 minItems:int64=15 uniqueItems:bool=16 maxProperties:int64=17 minProperties:int64=18 required:string*=19 enum:Any*=20 additionalProperties:AdditionalPropertiesItem=21 type:TypeItem=22 items:ItemsItem=23 properties:NamedSchemas=25 externalDocs:ExternalDocs=29 vendorExtension:NamedAny*=31',
  AdditionalPropertiesItem: 'schema:Schema=1 boolean:bool=2',
  TypeItem: 'value:string*=1',
  ItemsItem: 'schema:Schema*=1',
  ExternalDocs: 'description:string=1 url:string=2',
  NamedAny: 'name:string=1 value:Any=2',
  Any: 'yaml:string=2',
  SecurityDefinitions: 'additionalProperties:NamedSecurityDefinition*=1',
  NamedSecurityDefinition: 'name:string=1 value:SecurityDefinitionsItem=2',
  SecurityDefinitionsItem: 'apiKeySecurity:ApiKeySecurity=2',
  ApiKeySecurity: 'type:string=1 name:string=2 in:string=3 description:string=4',
  SecurityRequirement: 'additionalProperties:NamedStringArray*=1',
  NamedStringArray: 'name:string=1 value:StringArray=2',
  StringArray: 'value:string*=1',
}

/** Documents in protobuf. */
export class ProtobufForm implements OpenApiV2Form {
  /** Repeated fields follow each other with nothing between. */
  readonly separator = Buffer.alloc(0)
  #loaded: protobuf.Root | undefined

  paths(paths: Record<string, SchemaDocument>): Buffer {
    return this.#encode('Paths', { path: named(paths, reshapePathItem) })
  }

  definition(name: string, schema: SchemaDocument): Buffer {
    return this.#encode('NamedSchemas', { additionalProperties: named({ [name]: schema }, reshapeSchema) })
  }

  frame({ swagger, info, securityDefinitions, security }: OpenApiV2Frame, lengths: BodyLengths): EncodedFrame {
    const tail = {
      securityDefinitions: { additionalProperties: named(securityDefinitions, item => ({ apiKeySecurity: item })) },
      security: security.map(item => ({ additionalProperties: named(item, value => ({ value })) })),
    }
    return {
      head: Buffer.concat([this.#encode('Document', { swagger, info }), this.#opening('paths', lengths.paths)]),
      middle: this.#opening('definitions', lengths.definitions),
      tail: this.#encode('Document', tail),
    }
  }

  /** Bytes before the content of a field of the document: its number and its length in bytes. */
  #opening(field: string, length: number): Buffer {
    const { id } = this.#root.lookupType('Document').fields[field]!
    return Buffer.from(
      protobufjs()
        .Writer.create()
        .uint32(((id << 3) | LENGTH_DELIMITED) >>> 0)
        .uint32(length)
        .finish(),
    )
  }

  #encode(message: string, value: Message): Buffer {
    return Buffer.from(this.#root.lookupType(message).encode(value).finish())
  }

  get #root(): protobuf.Root {
    this.#loaded ??= protobufjs().Root.fromJSON(descriptor())
    return this.#loaded
  }
}

/** Loaded late, since only old clients ask for this. */
function protobufjs(): typeof protobuf {
  return createRequire(import.meta.url)('protobufjs/light.js') as typeof protobuf
}

function descriptor(): protobuf.INamespace {
  const nested: Record<string, protobuf.IType> = {}
  for (const [message, text] of Object.entries(MESSAGES)) {
    const fields: Record<string, protobuf.IField & { rule?: string }> = {}
    for (const field of text.split(' ')) {
      const [, name, type, repeated, id] = /^(\w+):(\w+)(\*?)=(\d+)$/.exec(field)!
      fields[name!] = { type: type!, id: Number(id), ...(repeated && { rule: 'repeated' }) }
    }
    nested[message] = { fields }
  }
  return { nested }
}

type Message = Record<string, unknown>

function reshapePathItem({ parameters = [], ...operations }: SchemaDocument): Message {
  return {
    ...mapValues(operations as Record<string, SchemaDocument>, reshapeOperation),
    parameters: (parameters as SchemaDocument[]).map(reshapeParameter),
  }
}

function reshapeOperation(operation: SchemaDocument): Message {
  const { parameters, responses, ...rest } = operation
  return {
    ...withoutExtensions(rest),
    parameters: (parameters as SchemaDocument[]).map(reshapeParameter),
    responses: { responseCode: named(responses as Record<string, SchemaDocument>, reshapeResponse) },
    vendorExtension: extensions(operation),
  }
}

function reshapeParameter(parameter: SchemaDocument): Message {
  const { schema, ...rest } = parameter
  if (parameter.in === 'body') {
    return { parameter: { bodyParameter: { ...rest, schema: reshapeSchema(schema as SchemaDocument) } } }
  }
  const name = parameter.in === 'path' ? 'pathParameterSubSchema' : 'queryParameterSubSchema'
  return { parameter: { nonBodyParameter: { [name]: rest } } }
}

function reshapeResponse({ description, schema }: SchemaDocument): Message {
  return {
    response: {
      description,
      ...(schema !== undefined && { schema: { schema: reshapeSchema(schema as SchemaDocument) } }),
    },
  }
}

/** Goes once over the keywords: a definition may have fifty thousand schemas. */
function reshapeSchema(schema: SchemaDocument): Message {
  const message: Message = {}
  const vendorExtension: Message[] = []
  for (const keyword in schema) {
    const value = schema[keyword]
    if (keyword.startsWith('x-')) vendorExtension.push({ name: keyword, value: any(value) })
    else if (value !== undefined) addKeyword(message, keyword, value)
  }
  message.vendorExtension = vendorExtension
  return message
}

function addKeyword(message: Message, keyword: string, value: unknown): void {
  switch (keyword) {
    case '$ref':
      message.ref = value
      break
    case 'type':
      message.type = { value: [value] }
      break
    case 'items':
      message.items = { schema: [reshapeSchema(value as SchemaDocument)] }
      break
    case 'properties':
      message.properties = { additionalProperties: named(value as Record<string, SchemaDocument>, reshapeSchema) }
      break
    case 'additionalProperties':
      message.additionalProperties =
        typeof value === 'boolean' ? { boolean: value } : { schema: reshapeSchema(value as SchemaDocument) }
      break
    case 'enum':
      message.enum = (value as unknown[]).map(any)
      break
    case 'default':
      message.default = any(value)
      break
    default:
      message[keyword] = value
  }
}

function extensions(document: SchemaDocument): Message[] {
  return Object.entries(document)
    .filter(([name]) => name.startsWith('x-'))
    .map(([name, value]) => ({ name, value: any(value) }))
}

function withoutExtensions(document: SchemaDocument): Message {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !name.startsWith('x-')))
}

/** Any value travels as YAML text, of which JSON is a part. */
function any(value: unknown): Message {
  return { yaml: `${JSON.stringify(value)}\n` }
}

function named<T>(record: Record<string, T>, reshape: (value: T) => Message): Message[] {
  const all: Message[] = []
  for (const name in record) all.push({ name, value: reshape(record[name]!) })
  return all
}

function mapValues<T>(record: Record<string, T>, map: (value: T) => Message): Record<string, Message> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}
