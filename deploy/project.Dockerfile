# An image of your project, on top of the image from deploy/Dockerfile. Copy this file into the folder with your
# langgraph.json, package.json and package-lock.json, with a .dockerignore that has `node_modules`, `.git`, `.env` and
# `.holdpoint`: `docker build -t my-agent .`

FROM node:26-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=dev

FROM holdpoint
COPY --from=dependencies /app/node_modules /app/node_modules
COPY . /app
