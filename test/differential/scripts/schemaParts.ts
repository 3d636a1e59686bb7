/** Schemas of custom resources in few words. */
export const text = { type: 'string' }
export const whole = { type: 'integer' }
export const list = (items: object, rest: object = {}): object => ({ type: 'array', items, ...rest })
export const map = (values: object, rest: object = {}): object => ({
  type: 'object',
  additionalProperties: values,
  ...rest,
})
export const object = (properties: object, rest: object = {}): object => ({ type: 'object', properties, ...rest })
export const rules = (...each: unknown[]): object => ({
  'x-kubernetes-validations': each.map(rule => (typeof rule === 'string' ? { rule } : rule)),
})
