/** How the parts of an OpenAPI v2 document become bytes which can be put together again and again, and the form that is JSON. */

import type { OpenApiV2Frame } from './openApiV2.ts'
import type { SchemaDocument } from './schemaDocument.ts'

/** A document is: head, paths, middle, definitions, tail. */
export interface OpenApiV2Form {
  /** Stands between two neighbours among the paths, and among the definitions. */
  readonly separator: Buffer
  /** Empty when there are none. */
  paths(paths: Record<string, SchemaDocument>): Buffer
  definition(name: string, schema: SchemaDocument): Buffer
  frame(frame: OpenApiV2Frame, lengths: BodyLengths): EncodedFrame
}

/** In bytes, separators included. */
export interface BodyLengths {
  paths: number
  definitions: number
}

export interface EncodedFrame {
  head: Buffer
  middle: Buffer
  tail: Buffer
}

export class JsonForm implements OpenApiV2Form {
  readonly separator = Buffer.from(',')

  paths(paths: Record<string, SchemaDocument>): Buffer {
    return members(paths)
  }

  definition(name: string, schema: SchemaDocument): Buffer {
    return members({ [name]: schema })
  }

  frame({ swagger, info, securityDefinitions, security }: OpenApiV2Frame): EncodedFrame {
    const before = JSON.stringify({ swagger, info }).slice(0, -1)
    const after = JSON.stringify({ securityDefinitions, security }).slice(1)
    return {
      head: Buffer.from(`${before},"paths":{`),
      middle: Buffer.from('},"definitions":{'),
      tail: Buffer.from(`},${after}`),
    }
  }
}

/** An object without its braces. */
function members(value: object): Buffer {
  return Buffer.from(JSON.stringify(value).slice(1, -1))
}
