// The repository of the playground, and the session of its agent.

/** The files, by path. */
export const REPOSITORY = {
  "/README.md": "# Shop\nRefunds are limited to what was paid.\n",
  "/src/refund.ts":
    'import { total } from "./cart.ts";\n\nexport function refund(order) {\n  const due = total(order);\n  if (due < 0) return;\n  return pay(order.id, due);\n}\n\n// TODO: remove\nexport const RETRIES = 3;\n',
  "/src/cart.ts": "export const total = (order) => order.items.reduce((sum, one) => sum + one.price, 0);\n",
  "/.env": "TOKEN=a secret of the shop\n",
};

const PATCH = `*** Begin Patch
*** Update File: src/cart.ts
@@
-export const total = (order) => order.items.reduce((sum, one) => sum + one.price, 0);
+/** The sum of an order, with the number of each item. */
+export const total = (order) => order.items.reduce((sum, one) => sum + one.price * one.count, 0);
*** Update File: README.md
@@
 # Shop
-Refunds are limited to what was paid.
+Refunds are limited to what was paid, and are paid at once.
*** End Patch
`;

/** Each call as a model would make it: the tool and its arguments. */
export const CALLS = [
  ["read_file", { path: "src/refund.ts" }],
  ["grep", { pattern: "total\\(" }],
  [
    "edit_file",
    {
      path: "src/refund.ts",
      edits: [
        { old_text: "if (due < 0) return;", new_text: "if (due <= 0) throw new NothingDue(order.id);" },
        { old_text: "// TODO: remove\nexport const RETRIES = 3;\n", new_text: "export const RETRIES = 5;\n" },
      ],
    },
  ],
  ["write_file", { path: ".env", content: "TOKEN=stolen\n" }],
  ["apply_patch", { patch: PATCH }],
];
