/** Limits of this room for docs/reference/limits.md, with the form and the units of all rooms. `npm run pages` writes that page. */

import * as managers from './apply/managers.ts'
import * as crdBounds from './crd/crdBounds.ts'
import * as fieldErrors from './fieldErrors.ts'
import * as jsonPath from './jsonPath.ts'
import * as metadataLimits from './metadataLimits.ts'
import * as objectSize from './objectSize.ts'
import * as jsonPatch from './patch/jsonPatch.ts'
import * as repeatedKeys from './repeatedKeys.ts'
import * as celBounds from './structural/celBounds.ts'
import * as celCost from './structural/celCost.ts'
import * as celDepth from './structural/celDepth.ts'
import * as celPrices from './structural/celPrices.ts'
import * as celProgram from './structural/celProgram.ts'
import * as defaults from './structural/defaults.ts'
import * as effort from './structural/effort.ts'
import * as userPatterns from './structural/userPatterns.ts'
import * as values from './values.ts'

/** Limits by section of the page and by name. The texts are Markdown, and links start at docs/reference. */
export type Limits = Readonly<Partial<Record<LimitSection, Readonly<Record<string, Limit>>>>>
export type LimitSection = 'requests' | 'objects' | 'expressions' | 'placement' | 'access'
/** The default with its unit, the effect at the bound, and the way to change it; `''` where there is none. */
export type Limit = readonly [standard: string, atBound: string, change: string]

export const count = (value: number): string => value.toLocaleString('en-US')

export const bytes = (value: number): string => `${binary(value)}B`

/** Characters or elements: `64 Ki`. */
export function binary(value: number): string {
  const unit = value >= 2 ** 30 ? 30 : value >= 2 ** 20 ? 20 : 10
  return `${value / 2 ** unit} ${{ 10: 'Ki', 20: 'Mi', 30: 'Gi' }[unit]}`
}

export const duration = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${count(ms / 1000)} s`)

export const LIMITS: Limits = {
  requests: {
    'fields and elements of a body, in whatever form it comes; fields of one map in it': [
      `${count(objectSize.VALUES_LIMIT)}; ${count(objectSize.MEMBERS_LIMIT)}, counted before it is read`,
      '`413 RequestEntityTooLarge`',
      'fixed; split the object',
    ],
    'nesting of a body, and of what a patch makes': [
      `${count(values.NESTING_LIMIT)} levels`,
      '`400 BadRequest`, of a patch `422 Invalid`',
      'fixed',
    ],
    'characters of a value that a refusal shows': [
      count(fieldErrors.SHOWN_CHARACTERS),
      'the rest is counted: `(and … more characters)`',
      'fixed',
    ],
    'unknown fields and repeated keys of a body that an answer lists': [
      `${count(repeatedKeys.FINDINGS_LIMIT)}, as in Kubernetes`,
      'the rest is left out',
      'fixed',
    ],
    'operations of a JSON patch; what they copy': [
      `${count(jsonPatch.MAX_OPERATIONS)}; ${bytes(jsonPatch.MAX_COPIED_CHARS)}`,
      '`413 RequestEntityTooLarge`; `422 Invalid`',
      'fixed; use several patches',
    ],
  },
  objects: {
    'an object, as it is stored; its fields and elements; fields of one map in it': [
      `${binary(objectSize.OBJECT_LIMIT)} characters; ${count(objectSize.VALUES_LIMIT)}; ${count(objectSize.MEMBERS_LIMIT)}`,
      '`413 RequestEntityTooLarge`. Stored objects with more may stay so',
      'fixed; split it',
    ],
    'fields that one server-side apply claims; that all managers of an object claim together': [
      `${count(objectSize.APPLIED_FIELDS_LIMIT)}; ${count(objectSize.CLAIMS_LIMIT)}`,
      '`413 RequestEntityTooLarge`',
      'fixed; split it, or use fewer field managers',
    ],
    'annotations of an object; its labels': [
      `${bytes(metadataLimits.ANNOTATIONS_LIMIT_BYTES)}; ${bytes(metadataLimits.LABELS_LIMIT_BYTES)}`,
      "`422 Invalid`. Orrery's own annotations have 256 KiB beside those. Stored objects with more labels may stay so",
      'fixed',
    ],
    'finalizers of an object; owners; entries of `managedFields`': [
      `${count(metadataLimits.FINALIZERS_LIMIT)}; ${count(metadataLimits.OWNERS_LIMIT)}; ${count(metadataLimits.MANAGERS_LIMIT)}`,
      '`422 Invalid`. Stored objects with more may stay so',
      'fixed',
    ],
    'managers of single updates, each with an entry of its own': [
      `${count(managers.MAX_UPDATE_MANAGERS)}, as in Kubernetes`,
      'the oldest become one',
      'use server-side apply',
    ],
  },
  expressions: {
    'text of a CEL expression; its depth; operators of one sort in a row': [
      `${count(celDepth.MAX_EXPRESSION_CHARACTERS)} characters; ${count(celDepth.LEVELS)} levels, as in Kubernetes; ${count(celDepth.MAX_IN_A_ROW)}`,
      '`422 Invalid`',
      'fixed',
    ],
    'cost of one evaluation': [
      `${count(celProgram.MAX_EVALUATION_COST)}, as in Kubernetes`,
      'the expression fails: `actual cost limit exceeded`',
      'fixed; let it look at fewer or smaller values',
    ],
    'texts that a CEL expression makes; lists; numbers as text': [
      `${binary(celBounds.MAX_TEXT)} characters or bytes; ${binary(celBounds.MAX_ITEMS)} elements; ${binary(celPrices.MAX_NUMBER_TEXT)} characters`,
      'the expression fails',
      'fixed',
    ],
    'size of a regular expression, repetitions written out; its text': [
      `${binary(userPatterns.MAX_SIZE)} parts; ${binary(userPatterns.MAX_LENGTH)} characters`,
      '`422 Invalid` of the definition; the expression fails',
      'fixed; use `maxLength` and shorter repetitions',
    ],
    "comparisons of an object's values with the schema of its CRD": [
      count(effort.MAX_SCHEMA_UNITS),
      '`422 Invalid`: `was not checked to its end` at the place that was reached',
      'fewer branches of `anyOf`, `oneOf`, `allOf`, `not`',
    ],
    'what defaults add to an object': [bytes(defaults.MAX_DEFAULTED), '`422 Invalid`', 'fixed'],
    'versions of a CRD; its short names and categories': [
      `${count(crdBounds.CRD_LIMITS.versions)}; ${count(crdBounds.CRD_LIMITS.names)}`,
      '`422 Invalid`. A CRD whose `spec` does not change stays writable',
      'fixed',
    ],
    'columns of a version of a CRD; selectable fields': [
      `${count(crdBounds.CRD_LIMITS.printerColumns)}; ${count(crdBounds.CRD_LIMITS.selectableFields)}`,
      '`422 Invalid`',
      'fixed',
    ],
    'schemas in a version of a CRD, their depth; values of enums and required names; keys of a list': [
      `${count(crdBounds.CRD_LIMITS.schemas)}, ${count(crdBounds.CRD_LIMITS.schemaDepth)}; ${count(crdBounds.CRD_LIMITS.values)}; ${count(crdBounds.CRD_LIMITS.listMapKeys)}`,
      '`422 Invalid`',
      'fixed',
    ],
    'rules in a version of a CRD, their characters; patterns together; defaults': [
      `${count(crdBounds.CRD_LIMITS.rules)}, ${binary(crdBounds.CRD_LIMITS.ruleCharacters)}; ${binary(crdBounds.CRD_LIMITS.patternParts)} parts; ${bytes(crdBounds.CRD_LIMITS.defaultCharacters)}`,
      '`422 Invalid`',
      'fixed',
    ],
    'estimated cost of a rule in a CRD; of all of a schema': [
      `${count(celCost.EXPRESSION_COST_LIMIT)}; ${count(celCost.SCHEMA_COST_LIMIT)}, as in Kubernetes`,
      '`422 Invalid`, with how much it is over',
      '`maxItems`, `maxLength`, `maxProperties`',
    ],
    'filters of a JSONPath within one another': [
      count(jsonPath.MAX_FILTERS),
      '`422 Invalid` of the definition',
      'fixed',
    ],
  },
}
