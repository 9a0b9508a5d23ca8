// Keeps Vitest from the configuration of the checkout, in which this folder lies.
export default {};
